/// The front of the capability: checks what the caller gave, agrees with all ranks, prepares a strategy and lets it
/// move.
#include "sluice/redistribute.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "base/mpi.hpp"
#include "engine/agree.hpp"
#include "engine/context_state.hpp"
#include "redistribute/address_exchange.hpp"
#include "redistribute/address_map.hpp"
#include "redistribute/strategies/automatic.hpp"
#include "redistribute/strategies/step_clock.hpp"
#include "redistribute/strategies/strategy.hpp"
#include "redistribute/strategies/token/token_form.hpp"

namespace sluice {

namespace rd = redistribution;

namespace {

constexpr Bytes k_smallest_staging = 4_KiB;
using DestinationOf = std::function<Destination(std::uint64_t)>;

Error invalid(std::string const& text) {
    return {ErrorCode::invalid_argument, text};
}

/// What is wrong with one array, by local facts alone.
std::optional<Error> fault_of(Blocks const& blocks) {
    if (blocks.block_bytes == 0) return invalid("block_bytes is 0");
    if (blocks.data == nullptr && blocks.count > 0)
        return invalid("data is null but count is " + std::to_string(blocks.count));
    if (blocks.count > std::numeric_limits<std::uint64_t>::max() / 2 / blocks.block_bytes)
        return invalid(std::to_string(blocks.count) + " blocks of " + std::to_string(blocks.block_bytes) +
                       " bytes do not fit into an address space");
    return std::nullopt;
}

std::optional<Error> fault_of(std::uint64_t count, std::span<Destination const> destinations) {
    if (destinations.size() > count)
        return invalid(std::to_string(destinations.size()) + " destinations were given for an array of " +
                       std::to_string(count) + " blocks");
    return std::nullopt;
}

/// Values that every rank must have passed alike.
struct Alike {
    char const* what;
    std::uint64_t value;
};

/// Collective: one error on all ranks where one rank found one, or where values that must be alike are not.
/// Returns the largest `count` of all ranks.
template <std::size_t N>
std::uint64_t agree(engine::ContextState& context, std::optional<Error> mine, std::uint64_t count,
                    std::array<Alike, N> const& alike) {
    std::array<std::uint64_t, 2 + 2 * N> most{};
    most[0] = mine ? 1 : 0;
    most[1] = count;
    for (std::size_t i = 0; i < N; ++i) {
        most[2 + 2 * i] = alike[i].value;
        most[3 + 2 * i] = ~alike[i].value;  // its maximum is the complement of the least value
    }
    context.most_of_all(most);
    if (most[0] != 0) {
        if (mine) mine = Error(mine->code(), "rank " + std::to_string(context.rank()) + ": " + mine->what());
        context.agree_on_no_error(mine);
    }
    for (std::size_t i = 0; i < N; ++i)
        if (most[2 + 2 * i] != ~most[3 + 2 * i])
            throw invalid(std::string(alike[i].what) + " differs between ranks: from " +
                          std::to_string(~most[3 + 2 * i]) + " to " + std::to_string(most[2 + 2 * i]));
    return most[1];
}

}  // namespace

struct Plan::State {
    State(Context& owner, std::uint64_t count, RedistributeOptions const& options)
        : context(owner.state()),
          slots(count),
          staging(std::max(options.staging.value_or(context.settings().staging), k_smallest_staging)),
          strategy(options.strategy ? *options.strategy : strategy_named(context.settings().strategy)) {}

    engine::ContextState& context;
    std::uint64_t slots;
    Bytes staging;
    Strategy strategy;
    rd::StrategyEntry const* entry = nullptr;  // the one that moves; with `auto`, chosen for each block size
    std::string why;
    rd::AddressCounts counts;
    std::optional<rd::AddressMap> forward;
    std::optional<rd::AddressMap> inverse;
    bool once = false;
    bool scan = false;  // token may take its form for small blocks
    Lease lease;
    std::shared_ptr<engine::Node> node;  // its own share: another call may make the context change its rings
    std::optional<rd::Problem> problem;  // outlives the mover
    std::unique_ptr<rd::Mover> mover;
    std::uint64_t mover_block_bytes = 0;
    bool ready = false;

    Bytes token_rings() const { return staging / 4; }

    /// Collective: validates the map and keeps what the strategy needs of it.
    /// `block_bytes`: of the one array that is moved once, or nothing for a plan that may move several.
    void take_map(std::uint64_t live, DestinationOf const& destination, std::uint64_t most_slots,
                  std::optional<std::uint64_t> block_bytes) {
        bool const is_open = strategy == Strategy::automatic;  // the choice may fall on any, and needs to see the map
        entry = &rd::strategy_entry(is_open ? Strategy::token : strategy);
        why = "asked for";
        node = entry->needs_node ? context.node(token_rings()) : nullptr;
        scan = entry->needs_node && rd::scan_is_possible(node.get(), context.size(), most_slots);
        bool const by_scan_alone = block_bytes && rd::token_form(scan, *block_bytes) == rd::TokenForm::scan;
        bool const needs_forward = is_open || entry->needs_forward || by_scan_alone || (scan && !block_bytes);
        bool const needs_inverse = entry->needs_inverse && !by_scan_alone;
        once = block_bytes.has_value();
        std::optional<Error> fault;
        try {
            if (needs_inverse) inverse.emplace(slots, context.size(), most_slots, context.meter());
            if (needs_forward) forward.emplace(slots, context.size(), most_slots, context.meter());
        } catch (std::bad_alloc const&) {
            fault.emplace(ErrorCode::out_of_memory, "rank " + std::to_string(context.rank()) +
                                                        " has no memory for the addresses of " + std::to_string(slots) +
                                                        " blocks");
        }
        context.agree_on_no_error(fault);
        counts = rd::exchange_addresses(context, node.get(), live, destination, inverse ? &*inverse : nullptr,
                                        forward ? &*forward : nullptr, staging);
    }

    /// Token takes a forward map as the sign that it can scan.
    bool shows_forward() const { return forward && (entry->id != Strategy::token || scan); }

    rd::Problem problem_with(std::uint64_t block_bytes, Bytes bytes) {
        return {context,
                node.get(),
                shows_forward() ? &*forward : nullptr,
                inverse ? &*inverse : nullptr,
                slots,
                block_bytes,
                bytes,
                counts.incoming,
                counts.outgoing,
                counts.outgoing_by_message,
                counts.staying,
                once,
                context.meter()};
    }

    /// Collective: the strategy for blocks of this size, by the map; what it does not need goes when it moves only
    /// once.
    void choose(std::uint64_t block_bytes) {
        rd::Problem facts = problem_with(block_bytes, staging);
        facts.forward = &*forward;
        rd::Chosen chosen = rd::choose_automatically(facts, rd::token_form(scan, block_bytes));
        entry = chosen.entry;
        why = std::move(chosen.why);
        if (!once) return;
        bool const chain = entry->id == Strategy::token && rd::token_form(scan, block_bytes) == rd::TokenForm::chain;
        (chain ? forward : inverse).reset();
    }

    /// Collective: a strategy with all its memory, in the staging asked for or else in the smallest.
    void prepare(std::uint64_t block_bytes) {
        if (mover && mover_block_bytes == block_bytes) return;
        mover.reset();
        if (strategy == Strategy::automatic) choose(block_bytes);
        if (try_prepare(block_bytes, staging)) return;
        if (try_prepare(block_bytes, k_smallest_staging)) {
            why += "; no memory for the staging asked for, so the smallest";
            return;
        }
        lease.release();
        std::optional<Error> mine;
        if (!ready)
            mine.emplace(ErrorCode::out_of_memory,
                         "rank " + std::to_string(context.rank()) + " has no memory for strategy " +
                             std::string(entry->name) + " with staging of " + std::to_string(k_smallest_staging.count) +
                             " bytes (setting: staging; its budget: " + std::to_string(context.budget().limit().count) +
                             " bytes, of which " + std::to_string(context.budget().held().count) + " are held)");
        engine::agree_on_no_error(context.comm(), mine);
    }

    /// Collective: true when all ranks have the memory; `ready` says whether this one had it.
    bool try_prepare(std::uint64_t block_bytes, Bytes bytes) {
        lease.release();
        ready = false;
        if (auto granted = context.budget().try_lease(bytes, Purpose::staging)) {
            lease = std::move(*granted);
            try {
                problem.emplace(problem_with(block_bytes, bytes));
                mover = entry->prepare(*problem);
                ready = true;
            } catch (std::bad_alloc const&) {
                lease.release();
            } catch (Error const& error) {
                if (error.code() != ErrorCode::out_of_memory) throw;
                lease.release();
            }
        }
        mover_block_bytes = block_bytes;
        if (context.all_true(ready)) return true;
        mover.reset();
        return false;
    }

    void move(std::byte* data, Report& report) {
        report.strategy = entry->id;
        mover->move(data, report);
        report.why = why + (node != nullptr ? "; " + node->why() : "");
    }
};

namespace {

/// Everything one redistribution does, with the report around it.
Report redistribute_once(Context& context, Blocks const& blocks, std::optional<Error> fault, std::uint64_t live,
                         DestinationOf const& destination, RedistributeOptions const& options,
                         std::function<std::unique_ptr<Plan::State>()> const& make) {
    (void)options;
    engine::ContextState& state = context.state();
    state.meter().reset_peak();
    Bytes const held_before = state.meter().held();
    auto const counted_before = state.counters().values();
    Report report;
    rd::StepClock clock(report);
    std::unique_ptr<Plan::State> plan = make();
    if (!fault) fault = fault_of(blocks);
    std::uint64_t const most_slots =
        agree(state, fault, blocks.count,
              std::array{Alike{"block_bytes", blocks.block_bytes}, Alike{"staging", plan->staging.count},
                         Alike{"strategy", static_cast<std::uint64_t>(plan->strategy)}});
    plan->take_map(live, destination, most_slots, blocks.block_bytes);
    clock.step("addresses");
    plan->prepare(blocks.block_bytes);
    clock.step("prepare");
    plan->move(static_cast<std::byte*>(blocks.data), report);
    report.extra_peak = state.meter().peak() - held_before + state.ring_memory();
    for (auto const& [name, value] : state.counters().values()) {
        std::uint64_t before = 0;
        for (auto const& [known, counted] : counted_before)
            if (known == name) before = counted;
        report.counters.emplace_back(name, value - before);
    }
    return report;
}

}  // namespace

Report redistribute(Context& context, Blocks blocks, std::span<Destination const> destinations,
                    RedistributeOptions const& options) {
    return redistribute_once(
        context, blocks, fault_of(blocks.count, destinations), destinations.size(),
        [destinations](std::uint64_t block) { return destinations[block]; }, options,
        [&] { return std::make_unique<Plan::State>(context, blocks.count, options); });
}

Report redistribute(Context& context, Blocks blocks, DestinationFunction const& destination,
                    RedistributeOptions const& options) {
    std::optional<Error> fault;
    if (!destination) fault = invalid("the destination function is empty");
    auto const* const data = static_cast<std::byte const*>(blocks.data);
    return redistribute_once(
        context, blocks, fault, blocks.count,
        [&](std::uint64_t block) {
            return destination(block,
                               {data + block * blocks.block_bytes, static_cast<std::size_t>(blocks.block_bytes)});
        },
        options, [&] { return std::make_unique<Plan::State>(context, blocks.count, options); });
}

namespace {

/// Collective: a plan with a validated map.
std::unique_ptr<Plan::State> planned(Context& context, std::uint64_t count, std::optional<Error> const& fault,
                                     std::uint64_t live, DestinationOf const& destination,
                                     RedistributeOptions const& options) {
    auto state = std::make_unique<Plan::State>(context, count, options);
    std::uint64_t const most_slots = agree(state->context, fault, count,
                                           std::array{Alike{"staging", state->staging.count},
                                                      Alike{"strategy", static_cast<std::uint64_t>(state->strategy)}});
    state->take_map(live, destination, most_slots, std::nullopt);
    return state;
}

}  // namespace

Plan::Plan(std::unique_ptr<State> state) : state_(std::move(state)) {}

Plan::Plan(Context& context, std::uint64_t count, std::span<Destination const> destinations,
           RedistributeOptions const& options)
    : state_(planned(
          context, count, fault_of(count, destinations), destinations.size(),
          [destinations](std::uint64_t block) { return destinations[block]; }, options)) {}

Plan Plan::computed(Context& context, std::uint64_t count,
                    std::function<Destination(std::uint64_t index)> const& destination,
                    RedistributeOptions const& options) {
    std::optional<Error> fault;
    if (!destination) fault = invalid("the destination function is empty");
    return Plan(planned(context, count, fault, count, destination, options));
}

Plan::~Plan() = default;
Plan::Plan(Plan&&) noexcept = default;
Plan& Plan::operator=(Plan&&) noexcept = default;

Report Plan::apply(std::span<Blocks const> arrays) {
    engine::ContextState& context = state_->context;
    context.meter().reset_peak();
    Report report;
    rd::StepClock clock(report);
    std::optional<Error> fault;
    for (Blocks const& blocks : arrays) {
        if (!fault) fault = fault_of(blocks);
        if (!fault && blocks.count != state_->slots)
            fault = invalid("the plan is for arrays of " + std::to_string(state_->slots) + " blocks, this one has " +
                            std::to_string(blocks.count));
    }
    agree(context, fault, 0, std::array{Alike{"number of arrays", arrays.size()}});
    for (Blocks const& blocks : arrays) {
        agree(context, std::nullopt, 0, std::array{Alike{"block_bytes", blocks.block_bytes}});
        state_->prepare(blocks.block_bytes);
        clock.step("prepare");
        state_->move(static_cast<std::byte*>(blocks.data), report);
    }
    report.extra_peak = context.meter().peak() + context.ring_memory();
    return report;
}

Bytes Plan::memory() const {
    Bytes bytes{sizeof(State)};
    if (state_->forward) bytes += state_->forward->memory();
    if (state_->inverse) bytes += state_->inverse->memory();
    return bytes;
}

}  // namespace sluice
