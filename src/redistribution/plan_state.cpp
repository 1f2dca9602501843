// SPDX-License-Identifier: BSD-3-Clause
#include "redistribution/plan_state.hpp"

#include <algorithm>
#include <new>

#include "groups/agree.hpp"
#include "redistribution/strategies/automatic.hpp"
#include "redistribution/strategies/token/token_form.hpp"

namespace sluice {

namespace rd = redistribution;

namespace {
constexpr Bytes k_smallest_staging = 4_KiB;
}

Plan::State::State(Context& owner, std::uint64_t count, RedistributeOptions const& options)
    : context(engine::ContextState::of(owner)),
      slots(count),
      staging(std::max(options.staging.value_or(context.settings().staging), k_smallest_staging)),
      strategy(options.strategy ? *options.strategy : context.settings().strategy) {}

void Plan::State::take_map(std::uint64_t live, rd::DestinationsFrom const& destinations, std::uint64_t most_slots,
                           std::optional<std::uint64_t> block_bytes) {
    bool const is_open = strategy == Strategy::automatic;  // `auto` may choose any strategy and needs both maps
    entry_ = &rd::strategy_entry(is_open ? Strategy::token : strategy);
    why_ = "asked for";
    node_ = entry_->needs_node ? context.node(staging / 4) : nullptr;
    scan_ = entry_->needs_node && rd::scan_is_possible(node_.get(), context.size(), most_slots);
    bool const by_scan_alone = block_bytes && rd::token_form(node_.get(), scan_, *block_bytes) == rd::TokenForm::scan;
    bool const needs_forward = is_open || entry_->needs_forward || by_scan_alone || (scan_ && !block_bytes);
    bool const needs_inverse = entry_->needs_inverse && !by_scan_alone;
    once_ = block_bytes.has_value();
    std::optional<Error> fault;
    try {
        if (needs_inverse) inverse_.emplace(slots, context.size(), most_slots, context.meter());
        if (needs_forward) forward_.emplace(slots, context.size(), most_slots, context.meter());
    } catch (std::bad_alloc const&) {
        fault.emplace(ErrorCode::out_of_memory, "rank " + std::to_string(context.rank()) +
                                                    " has no memory for the addresses of " + std::to_string(slots) +
                                                    " blocks");
    }
    context.agree_on_no_error(fault);
    counts_ = rd::exchange_addresses(context, node_.get(), live, destinations, inverse_ ? &*inverse_ : nullptr,
                                     forward_ ? &*forward_ : nullptr, staging);
}

/// Token takes a forward map as the sign that it can scan.
bool Plan::State::shows_forward() const {
    return forward_ && (entry_->id != Strategy::token || scan_);
}

rd::Problem Plan::State::problem_with(std::uint64_t block_bytes, Bytes bytes) {
    return {context,
            node_.get(),
            shows_forward() ? &*forward_ : nullptr,
            inverse_ ? &*inverse_ : nullptr,
            slots,
            block_bytes,
            bytes,
            counts_.incoming,
            counts_.outgoing,
            counts_.outgoing_by_message,
            counts_.staying,
            once_,
            context.meter()};
}

/// Collective. Chooses the strategy for blocks of this size by the map, and frees the maps that it does not need if it
/// moves only once.
void Plan::State::choose(std::uint64_t block_bytes) {
    rd::Problem facts = problem_with(block_bytes, staging);
    facts.forward = &*forward_;
    rd::Chosen chosen = rd::choose_automatically(facts, rd::token_form(node_.get(), scan_, block_bytes));
    entry_ = chosen.entry;
    why_ = std::move(chosen.why);
    if (!once_) return;
    bool const chain =
        entry_->id == Strategy::token && rd::token_form(node_.get(), scan_, block_bytes) == rd::TokenForm::chain;
    (chain ? forward_ : inverse_).reset();
}

void Plan::State::prepare(std::uint64_t block_bytes) {
    if (mover_ && mover_block_bytes_ == block_bytes) return;
    mover_.reset();
    if (strategy == Strategy::automatic) choose(block_bytes);
    if (try_prepare(block_bytes, staging)) return;
    if (try_prepare(block_bytes, k_smallest_staging)) {
        why_ += "; no memory for the staging asked for, so the smallest";
        return;
    }
    lease_.release();
    std::optional<Error> mine;
    if (!ready_)
        mine.emplace(ErrorCode::out_of_memory,
                     "rank " + std::to_string(context.rank()) + " has no memory for strategy " +
                         std::string(entry_->name) + " with staging of " + std::to_string(k_smallest_staging.count) +
                         " bytes (setting: staging; its budget: " + std::to_string(context.budget().limit().count) +
                         " bytes, of which " + std::to_string(context.budget().held().count) + " are held)");
    groups::agree_on_no_error(context.comm(), mine);
}

/// Collective. Returns true if all ranks have the memory; `ready_` says whether this one has.
bool Plan::State::try_prepare(std::uint64_t block_bytes, Bytes bytes) {
    lease_.release();
    ready_ = false;
    auto granted = context.budget().try_lease(bytes, Purpose::staging);
    // Leases of other processes of the node must not end a program that could go on with 4 KiB.
    if (!granted && bytes <= k_smallest_staging) granted = context.budget().lease_beyond(bytes, Purpose::staging);
    if (granted) {
        lease_ = std::move(*granted);
        try {
            problem_.emplace(problem_with(block_bytes, bytes));
            mover_ = entry_->prepare(*problem_);
            ready_ = true;
        } catch (std::bad_alloc const&) {
            lease_.release();
        } catch (Error const& error) {
            if (error.code() != ErrorCode::out_of_memory) throw;
            lease_.release();
        }
    }
    mover_block_bytes_ = block_bytes;
    if (context.all_true(ready_)) return true;
    mover_.reset();
    return false;
}

void Plan::State::move(std::byte* data, Report& report) {
    std::string why = why_ + (node_ != nullptr ? "; " + node_->why() : "");
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
    return bytes;
}

}  // namespace sluice
