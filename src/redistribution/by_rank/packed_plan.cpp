// SPDX-License-Identifier: BSD-3-Clause
/// Redistribution of packed blocks of different sizes: their streams (by_rank/packed_streams.hpp) are cut into units,
/// which a redistribution moves as blocks of one size; tails and sizes go by message.
///
///     take all memory  ->  pack  ->  move units  ->  spread  ->  tails and sizes
///     all ranks agree      no failure from here on
#include "sluice/packed_plan.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <string>
#include <utility>

#include "engine/context_state.hpp"
#include "groups/agreement.hpp"
#include "redistribution/arguments.hpp"
#include "redistribution/by_rank/packed_streams.hpp"
#include "redistribution/by_rank/partner_counts.hpp"
#include "redistribution/by_rank/rank_slots.hpp"
#include "redistribution/by_rank/tail_exchange.hpp"
#include "redistribution/measured_call.hpp"
#include "redistribution/plan_state.hpp"
#include "redistribution/strategies/moving/step_clock.hpp"

namespace sluice {

namespace rd = redistribution;

struct PackedPlan::State {
    explicit State(Context made_on, RedistributeOptions const& how)
        : context(std::move(made_on)),
          shared(engine::ContextState::of(context)),
          options(how),
          incoming(memory::MeteredAllocator<rd::IncomingStream>(shared.meter())) {}
    ~State() { shared.tell_if_late("a PackedPlan"); }
    State(State const&) = delete;
    State& operator=(State const&) = delete;

    /// Collective, in the call of this name.
    void make(PackedBlocks const& blocks, char const* call);

    std::uint64_t elements(std::uint64_t bytes) const noexcept { return bytes / element_bytes; }
    std::uint64_t bytes() const noexcept { return std::max(bytes_before, bytes_after); }

    Context context;  // a plan may outlive the program's
    engine::ContextState& shared;
    RedistributeOptions options;
    std::uint64_t element_bytes = 1;
    std::optional<rd::OutgoingStreams> outgoing;
    memory::MeteredVector<rd::IncomingStream> incoming;  // by rank
    std::uint64_t bytes_before = 0;
    std::uint64_t bytes_after = 0;
    std::uint64_t blocks_after = 0;
    std::uint64_t unit_bytes = 0;
    Lease lease;
    std::optional<rd::ReportedCall> once;  // the call whose only move is the next one
};

namespace {

struct ToldOfStream {
    std::uint64_t blocks;
    std::uint64_t bytes;
};

/// What a move takes before it starts.
struct PackedMemory {
    PackedMemory(engine::ContextState& context, std::size_t streams, std::size_t partners, std::uint64_t unit_count,
                 std::uint64_t unit_bytes)
        : units(unit_count, 0, memory::MeteredAllocator<int>(context.meter())),
          tails(streams * unit_bytes, std::byte{}, memory::MeteredAllocator<std::byte>(context.meter())),
          exchange(context, partners),
          lease(context.budget().lease_beyond({units.size() * sizeof(int) + tails.size()}, Purpose::bookkeeping)) {}

    memory::MeteredVector<int> units;  // the rank of each
    memory::MeteredVector<std::byte> tails;
    rd::TailExchange exchange;
    Lease lease;
};

Error no_memory(engine::ContextState const& context, std::string const& what) {
    return {ErrorCode::out_of_memory, "rank " + std::to_string(context.rank()) + " has no memory for " + what};
}

}  // namespace

void PackedPlan::State::make(PackedBlocks const& blocks, char const* call) {
    std::optional<Error> fault = rd::fault_of(blocks);
    if (!fault) fault = rd::fault_of_ranks(blocks.ranks, shared.rank(), shared.size());
    if (!fault) fault = rd::fault_of_options_by_rank(options);
    groups::Agreement agreement;
    agreement.fault(fault);
    agreement.alike("element_bytes", blocks.element_bytes.count);
    agreement.alike("staging", options.staging.value_or(shared.settings().staging));
    agreement.alike("strategy", name_of(options.strategy.value_or(shared.settings().strategy)));
    shared.meet(call, agreement);

    element_bytes = blocks.element_bytes.count;
    try {
        outgoing.emplace(blocks, shared.budget(), shared.meter());
    } catch (std::bad_alloc const&) {
        fault = no_memory(shared, "the sizes of " + std::to_string(blocks.sizes.size()) + " packed blocks");
    }
    rd::ToldByPartners<ToldOfStream> told(shared);
    rd::tell_partners(shared, told, fault, [&](auto const& send) {
        for (std::size_t which = 0; which < outgoing->streams().size(); ++which) {
            rd::OutgoingStream const& stream = outgoing->streams()[which];
            ToldOfStream const mine{outgoing->sizes_of(which).size(), stream.bytes};
            if (stream.rank == shared.rank())
                told.accept(stream.rank, mine);
            else
                send(stream.rank, mine);
        }
    });
    constexpr std::uint64_t k_most = std::numeric_limits<std::uint64_t>::max() / 2;
    try {
        incoming.reserve(told.items().size());
        for (auto const& [source, stream] : told.items()) {
            incoming.push_back({source, stream.blocks, stream.bytes});
            if (stream.bytes > k_most - bytes_after)
                fault = rd::invalid("the blocks that come to rank " + std::to_string(shared.rank()) +
                                    " do not fit into an address space");
            else
                bytes_after += stream.bytes;
            blocks_after += stream.blocks;
        }
        std::ranges::sort(incoming, {}, &rd::IncomingStream::rank);
    } catch (std::bad_alloc const&) {
        fault = no_memory(shared, "the counts of its partners");
    }
    bytes_before = outgoing->bytes();
    groups::Agreement units;
    units.fault(fault);
    std::uint64_t const& most_bytes = units.most(bytes());
    std::uint64_t const& most_partners = units.most(outgoing->streams().size());
    shared.agree(units);
    unit_bytes = rd::unit_bytes_for(most_bytes, most_partners);
    lease = shared.budget().lease_beyond(outgoing->memory(), Purpose::bookkeeping);
}

PackedPlan::PackedPlan(Context& context, PackedBlocks const& blocks, RedistributeOptions const& options)
    : state_(std::make_unique<State>(engine::ContextState::another_of(context), options)) {
    engine::Entry const entry(state_->shared, "PackedPlan");
    state_->make(blocks, "PackedPlan");
}

PackedPlan::PackedPlan(Once, Context& context, PackedBlocks const& blocks, RedistributeOptions const& options)
    : state_(std::make_unique<State>(engine::ContextState::another_of(context), options)) {
    engine::ContextState& shared = state_->shared;
    engine::Entry const entry(shared, "redistribute");
    rd::ReportedCall& once = state_->once.emplace(shared, shared.meter().held());
    state_->make(blocks, "redistribute packed blocks");
    once.clock.step("counts");
}

PackedPlan::~PackedPlan() = default;
PackedPlan::PackedPlan(PackedPlan&&) noexcept = default;
PackedPlan& PackedPlan::operator=(PackedPlan&&) noexcept = default;

std::uint64_t PackedPlan::blocks_before() const {
    return rd::existing(state_, "PackedPlan").outgoing->blocks();
}
std::uint64_t PackedPlan::blocks_after() const {
    return rd::existing(state_, "PackedPlan").blocks_after;
}
std::uint64_t PackedPlan::elements_before() const {
    return rd::existing(state_, "PackedPlan").elements(state_->bytes_before);
}
std::uint64_t PackedPlan::elements_after() const {
    return rd::existing(state_, "PackedPlan").elements(state_->bytes_after);
}
std::uint64_t PackedPlan::elements() const {
    return std::max(elements_before(), elements_after());
}

RedistributionReport PackedPlan::apply(std::span<std::byte> data, std::span<std::uint64_t> sizes) {
    return apply(data, sizes, std::nullopt);
}

std::optional<Error> PackedPlan::fault_of_element(std::uint64_t bytes) const {
    if (bytes == rd::existing(state_, "PackedPlan").element_bytes) return std::nullopt;
    return rd::invalid("the plan is for elements of " + std::to_string(state_->element_bytes) +
                       " bytes, those of the vector have " + std::to_string(bytes));
}

namespace {

/// What this rank alone can see in the arrays of a call.
std::optional<Error> fault_of_arrays(std::span<std::byte> data, std::span<std::uint64_t> sizes, std::uint64_t bytes,
                                     std::uint64_t blocks) {
    if (data.size() < bytes)
        return rd::invalid("the array has " + std::to_string(data.size()) + " bytes, and the move needs " +
                           std::to_string(bytes));
    if (sizes.size() < blocks)
        return rd::invalid("the list of sizes has room for " + std::to_string(sizes.size()) + " blocks, and gets " +
                           std::to_string(blocks));
    if (sizes.data() == nullptr && blocks > 0) return rd::invalid("the list of sizes is null");
    return rd::fault_of(Blocks{data.data(), bytes, {1}});
}

/// The blocks are the program's, not units.
void count_blocks(RedistributionReport& report, int rank, rd::OutgoingStreams const& outgoing,
                  std::span<rd::IncomingStream const> incoming) {
    report.blocks_sent = report.blocks_received = 0;
    report.bytes_sent = report.bytes_received = {};
    for (std::size_t which = 0; which < outgoing.streams().size(); ++which) {
        rd::OutgoingStream const& stream = outgoing.streams()[which];
        if (stream.rank == rank) continue;
        report.blocks_sent += outgoing.sizes_of(which).size();
        report.bytes_sent += Bytes{stream.bytes};
    }
    for (rd::IncomingStream const& stream : incoming) {
        if (stream.rank == rank) continue;
        report.blocks_received += stream.blocks;
        report.bytes_received += Bytes{stream.bytes};
    }
}

}  // namespace

RedistributionReport PackedPlan::apply(std::span<std::byte> data, std::span<std::uint64_t> sizes,
                                       std::optional<Error> const& fault_before) {
    State& state = rd::existing(state_, "PackedPlan");
    engine::ContextState& context = state.shared;
    engine::Entry const entry(context, state.once ? "redistribute" : "PackedPlan::apply");
    std::optional<rd::ReportedCall> own;
    rd::ReportedCall& call = state.once ? *state.once : own.emplace(context, context.meter().held());
    RedistributionReport& report = call.report;
    if (state.once) call.clock.step("resize");
    rd::OutgoingStreams& outgoing = *state.outgoing;
    std::uint64_t const unit_bytes = state.unit_bytes;

    std::optional<Error> fault = fault_before;
    if (!fault) fault = fault_of_arrays(data, sizes, state.bytes(), state.blocks_after);
    context.meet("PackedPlan::apply", fault);
    std::uint64_t const units = outgoing.units(unit_bytes);
    std::optional<PackedMemory> memory;
    try {
        memory.emplace(context, outgoing.streams().size(), outgoing.streams().size() + state.incoming.size(), units,
                       unit_bytes);
    } catch (std::bad_alloc const&) {
        fault = no_memory(context, "the tails of " + std::to_string(outgoing.streams().size()) + " streams");
    }
    context.agree_on_no_error(fault);
    outgoing.list_units(unit_bytes, memory->units);
    rd::RankSlots slots(context, memory->units, BlockOrder::by_source);
    std::uint64_t const units_after = slots.choose(std::nullopt);

    Blocks const blocks{data.data(), std::max(units, units_after), {unit_bytes}};
    Plan::State plan(state.context, blocks.count, state.options);
    groups::Agreement agreement;
    std::uint64_t const& most_slots = agreement.most(blocks.count);
    std::uint64_t const& are_shared = agreement.least(plan.may_share(blocks) ? 1 : 0);
    context.agree(agreement);
    plan.take_map(units, std::ref(slots), most_slots, &blocks, are_shared != 0, {});
    call.clock.step("addresses");
    plan.prepare(unit_bytes);
    call.clock.step("prepare");

    std::uint64_t const packed = outgoing.pack(data.data(), unit_bytes, memory->tails.data());
    call.clock.step("pack");
    plan.move(data.data(), report);
    rd::StepClock after(report);
    std::uint64_t const apart = rd::spread(data.data(), unit_bytes, state.incoming);
    after.step("spread");
    memory->exchange.run(outgoing, state.incoming, unit_bytes, memory->tails.data(), data.data(), sizes.data());
    after.step("tails");
    report.bytes_local += Bytes{packed + apart};
    report.requests_peak = std::max(report.requests_peak, memory->exchange.requests_peak());
    report.why += "; packed blocks in units of " + std::to_string(unit_bytes) + " bytes";
    count_blocks(report, context.rank(), outgoing, state.incoming);
    return std::move(call.finish());
}

}  // namespace sluice
