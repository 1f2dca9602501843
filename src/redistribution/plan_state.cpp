// SPDX-License-Identifier: BSD-3-Clause
#include "redistribution/plan_state.hpp"

#include <algorithm>
#include <new>
#include <span>

#include "base/checks_data.hpp"
#include "groups/agree.hpp"
#include "groups/agreement.hpp"
#include "redistribution/inverse_rule.hpp"
#include "redistribution/strategies/automatic.hpp"
#include "redistribution/strategies/packed/packed.hpp"

namespace sluice {

namespace rd = redistribution;

namespace {

constexpr Bytes k_smallest_staging = 4_KiB;

/// Returns the strategies that may move the blocks: the requested one, or all of them for `auto`.
std::span<rd::StrategyEntry const> open_strategies(Strategy strategy) {
    if (strategy == Strategy::automatic) return rd::strategies();
    return {&rd::strategy_entry(strategy), 1};
}

/// The maps that any of `open` reads.
rd::MapNeeds needs_of(std::span<rd::StrategyEntry const> open, rd::MapFacts const& facts) {
    rd::MapNeeds all{.forward = false, .inverse = false};
    for (rd::StrategyEntry const& entry : open) {
        rd::MapNeeds const needs = entry.needs(facts);
        all.forward |= needs.forward;
        all.inverse |= needs.inverse;
    }
    return all;
}

}  // namespace

Plan::State::State(Context const& made_on, std::uint64_t count, RedistributeOptions const& options)
    : owner(engine::ContextState::shared_by(made_on)),
      context(*owner),
      slots(count),
      staging(std::max(options.staging.value_or(context.settings().staging), k_smallest_staging)),
      strategy(options.strategy ? *options.strategy : context.settings().strategy) {}

bool Plan::State::may_copy(std::uint64_t live, Blocks const& blocks) const {
    return strategy == Strategy::automatic &&
           rd::has_room(context, 1, rd::Packed::least_copies(live, blocks.block_bytes.count));
}

bool Plan::State::move_packed(std::uint64_t live, rd::DestinationsFrom const& destinations, std::uint64_t most_slots,
                              Blocks const& blocks, rd::ReportedCall& call) {
    node_ = context.node(staging / 4);
    std::uint64_t const block_bytes = blocks.block_bytes.count;
    facts_ = {.node = node_.get(),
              .ranks = context.size(),
              .most_slots = most_slots,
              .staging = staging,
              .block_bytes = block_bytes};
    rd::Facts facts = rd::early_facts(facts_, block_bytes, staging);
    bool const tells = facts.has_curves && context.rank() == 0;
    groups::Agreement agreement;
    std::uint64_t const& most_live = agreement.most(live);
    rd::AgreedCurves const curves(agreement, tells ? rd::curves_of_this_machine(node_->is_crowded()) : rd::Curves{});
    context.agree(agreement);
    facts.curves = curves.get();
    std::optional<rd::Choice> choice = rd::choose_token_at_once(facts, most_live);
    std::optional<rd::Packed> packed;
    if (!choice) {
        try {
            packed.emplace(context, blocks, live, destinations);
        } catch (std::bad_alloc const&) {
        }
        if (!context.all_true(packed.has_value())) return false;
        choice = packed->open(*node_, facts);
    }
    if (!choice) return false;
    if (choice->way == rd::Way::alltoallv) {
        call.clock.step("count");
        if (packed->move(call.report)) {
            call.report.why = choice->why;
            return true;
        }
    }
    is_chosen_ = choice->way == rd::Way::token;
    why_ = choice->why;
    return false;
}

void Plan::State::take_map(std::uint64_t live, rd::DestinationsFrom const& destinations, std::uint64_t most_slots,
                           Blocks const* once, bool are_shared, InverseFunction const& inverse) {
    std::span<rd::StrategyEntry const> const open = open_strategies(is_chosen_ ? Strategy::token : strategy);
    entry_ = &open.front();
    if (!is_chosen_) why_ = "asked for";
    if (std::ranges::any_of(open, &rd::StrategyEntry::needs_node)) node_ = context.node(staging / 4);
    facts_ = {.node = node_.get(),
              .ranks = context.size(),
              .most_slots = most_slots,
              .staging = staging,
              .block_bytes = std::nullopt};
    if (once != nullptr) facts_.block_bytes = once->block_bytes.count;
    bool const is_inverse_checked = inverse && base::checks_data(context.settings().check);
    if (are_shared && !is_inverse_checked) {
        if (inverse)
            rd::take_both_ways(context, node_.get(), {slots, most_slots}, live, destinations, inverse, nullptr,
                               nullptr);
        if (take_shared_map(live, destinations, *once)) return;
    }
    rd::MapNeeds const needs = needs_of(open, facts_);
    std::optional<Error> fault;
    try {
        if (needs.inverse || is_inverse_checked) inverse_.emplace(slots, context.size(), most_slots, context.meter());
        if (needs.forward) forward_.emplace(slots, context.size(), most_slots, context.meter());
    } catch (std::bad_alloc const&) {
        fault.emplace(ErrorCode::out_of_memory, "rank " + std::to_string(context.rank()) +
                                                    " has no memory for the addresses of " + std::to_string(slots) +
                                                    " blocks");
    }
    context.agree_on_no_error(fault);
    rd::AddressMap* const inverse_map = inverse_ ? &*inverse_ : nullptr;
    rd::AddressMap* const forward_map = forward_ ? &*forward_ : nullptr;
    if (inverse && !is_inverse_checked) {
        counts_ = rd::take_both_ways(context, node_.get(), {slots, most_slots}, live, destinations, inverse,
                                     inverse_map, forward_map);
        return;
    }
    counts_ =
        rd::exchange_addresses(context, node_.get(), live, most_slots, destinations, inverse_map, forward_map, staging);
    if (is_inverse_checked) rd::check_inverse(context, *inverse_, inverse);
    if (!needs.inverse) inverse_.reset();
}

bool Plan::State::may_share(Blocks const& blocks) const noexcept {
    return (strategy == Strategy::token || strategy == Strategy::automatic) &&
           rd::SharedForm::may_serve(context, blocks);
}

/// Collective. False if this is not possible, or the map has a fault; then nothing has changed.
bool Plan::State::take_shared_map(std::uint64_t live, rd::DestinationsFrom const& destinations, Blocks const& blocks) {
    is_shared_ = try_share(blocks) && shared_->tell(slots, facts_.most_slots, live, destinations, counts_);
    if (!is_shared_) shared_.reset();
    return is_shared_;
}

bool Plan::State::try_share(Blocks const& blocks) {
    if (!rd::SharedForm::is_possible(*node_, context.size())) return false;
    bool is_ready = true;
    try {
        if (!shared_) shared_.emplace(context, node_);
    } catch (std::bad_alloc const&) {
        is_ready = false;
    }
    return context.all_true(is_ready) && shared_->map_arrays(blocks);
}

void Plan::State::share(Blocks const* blocks) {
    is_shared_ = blocks != nullptr && inverse_ && rd::are_words_short(context.size(), facts_.most_slots) &&
                 try_share(*blocks) && shared_->take(facts_.most_slots, *inverse_);
}

void Plan::State::choose_walk() {
    entry_ = &rd::strategy_entry(Strategy::token);
    why_ = strategy == Strategy::automatic ? "auto: token, because all ranks map the arrays" : "asked for";
}

rd::Problem Plan::State::problem_with(std::uint64_t block_bytes, Bytes bytes) {
    return {.context = context,
            .node = node_.get(),
            .forward = forward_ ? &*forward_ : nullptr,
            .inverse = inverse_ ? &*inverse_ : nullptr,
            .slots = slots,
            .most_slots = facts_.most_slots,
            .block_bytes = block_bytes,
            .staging = bytes,
            .incoming = counts_.incoming,
            .outgoing = counts_.outgoing,
            .outgoing_by_message = counts_.outgoing_by_message,
            .staying = counts_.staying,
            .once = moves_once(),
            .places = places_.get(),
            .shared = is_shared_ ? &*shared_ : nullptr,
            .meter = context.meter()};
}

/// Collective. Chooses the strategy for blocks of this size by the map.
void Plan::State::choose(std::uint64_t block_bytes, bool may_copy) {
    rd::Chosen chosen = rd::choose_automatically(problem_with(block_bytes, staging), may_copy);
    entry_ = chosen.entry;
    why_ = std::move(chosen.why);
}

/// Frees the maps that the chosen strategy does not need, if it moves only once.
void Plan::State::drop_maps() {
    if (!moves_once()) return;
    rd::MapNeeds const needs = entry_->needs(facts_);
    if (!needs.forward) forward_.reset();
    if (!needs.inverse) inverse_.reset();
}

void Plan::State::prepare(std::uint64_t block_bytes) {
    if (mover_ && problem_->block_bytes == block_bytes && (problem_->shared != nullptr) == is_shared_) return;
    mover_.reset();
    if (is_open() && !is_shared_) {
        choose(block_bytes, true);
        if (entry_->id == Strategy::alltoallv) {
            if (try_prepare(block_bytes, staging) == Ready::everywhere) return drop_maps();
            choose(block_bytes, false);
            why_ += "; no memory for copies on some rank";
        }
        drop_maps();
    }
    if (is_shared_) choose_walk();
    if (try_prepare(block_bytes, staging) == Ready::everywhere) return;
    Ready const with_least = try_prepare(block_bytes, k_smallest_staging);
    if (with_least == Ready::everywhere) {
        why_ += "; no memory for the requested staging, so the smallest";
        return;
    }
    lease_.release();
    std::optional<Error> mine;
    if (with_least == Ready::not_here)
        mine.emplace(ErrorCode::out_of_memory,
                     "rank " + std::to_string(context.rank()) + " has no memory for strategy " +
                         std::string(entry_->name) + " with staging of " + std::to_string(k_smallest_staging.count) +
                         " bytes (setting: staging; its budget: " + std::to_string(context.budget().limit().count) +
                         " bytes, of which " + std::to_string(context.budget().held().count) + " are held)" +
                         (refusal_ ? std::string("; ") + refusal_->what() : ""));
    groups::agree_on_no_error(context.comm(), mine);
}

/// Collective.
Plan::State::Ready Plan::State::try_prepare(std::uint64_t block_bytes, Bytes bytes) {
    places_.reset();
    lease_.release();
    refusal_.reset();
    auto granted = context.budget().try_lease(bytes, Purpose::staging);
    // Leases of other processes of the node must not end a program that could go on with 4 KiB.
    if (!granted && bytes <= k_smallest_staging) granted = context.budget().lease_beyond(bytes, Purpose::staging);
    if (entry_->id == Strategy::token)
        places_ = rd::share_places(problem_with(block_bytes, bytes), granted.has_value());
    if (granted) {
        lease_ = std::move(*granted);
        try {
            problem_.emplace(problem_with(block_bytes, bytes));
            mover_ = entry_->prepare(*problem_);
        } catch (std::bad_alloc const&) {
            lease_.release();
        } catch (Error const& error) {
            if (error.code() != ErrorCode::out_of_memory) throw;
            refusal_ = error;
            lease_.release();
        }
    }
    bool const ready_here = mover_ != nullptr;
    if (context.all_true(ready_here)) return Ready::everywhere;
    mover_.reset();
    places_.reset();
    return ready_here ? Ready::not_elsewhere : Ready::not_here;
}

void Plan::State::move(std::byte* data, RedistributionReport& report) {
    std::string why = why_;
    if (node_ != nullptr) why += "; " + (is_shared_ ? "arrays that all ranks of the node map" : node_->why());
    // The report also mentions arrays that another strategy has moved.
    if (!report.why.empty() && report.strategy != entry_->id)
        why = report.why + "; then " + std::string(entry_->name) + ": " + why;
    report.strategy = entry_->id;
    mover_->move(data, report);
    report.why = std::move(why);
}

Bytes Plan::State::memory() const {
    Bytes bytes{sizeof(State)};
    if (forward_) bytes += forward_->memory();
    if (inverse_) bytes += inverse_->memory();
    if (shared_) bytes += shared_->memory();
    return bytes;
}

}  // namespace sluice
