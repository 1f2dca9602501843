// SPDX-License-Identifier: BSD-3-Clause
/// One redistribution: checks the arguments, agrees with all ranks, prepares a strategy and lets it move.
#include "sluice/redistribute.hpp"

#include <functional>
#include <utility>

#include "base/checks_data.hpp"
#include "groups/agreement.hpp"
#include "redistribution/arguments.hpp"
#include "redistribution/plan_state.hpp"

namespace sluice {

namespace rd = redistribution;

void rd::move_once(Context const& context, Blocks const& blocks, std::optional<Error> fault, std::uint64_t live,
                   DestinationsFrom const& destinations, RedistributeOptions const& options, ReportedCall& call) {
    engine::ContextState& state = engine::ContextState::of(context);
    Plan::State plan(context, blocks.count, options);
    if (!fault) fault = rd::fault_of(blocks);
    groups::Agreement agreement;
    agreement.fault(fault);
    agreement.alike("block_bytes", blocks.block_bytes.count);
    agreement.alike("staging", plan.staging);
    agreement.alike("strategy", name_of(plan.strategy));
    agreement.alike("inverse", options.inverse ? "given" : "not given");
    std::uint64_t const& most_slots = agreement.most(blocks.count);
    std::uint64_t const& are_shared = agreement.least(!fault && plan.may_share(blocks) ? 1 : 0);
    std::uint64_t const& may_copy = agreement.least(!fault && plan.may_copy(live, blocks) ? 1 : 0);
    state.meet("redistribute", agreement);
    bool const packs = may_copy != 0 && are_shared == 0 && !options.inverse;
    if (packs && plan.move_packed(live, destinations, most_slots, blocks, call)) return;
    plan.take_map(live, destinations, most_slots, &blocks, are_shared != 0, options.inverse);
    call.clock.step("addresses");
    plan.prepare(blocks.block_bytes.count);
    call.clock.step("prepare");
    plan.move(static_cast<std::byte*>(blocks.data), call.report);
}

namespace {

RedistributionReport redistribute_by(Context& context, Blocks const& blocks, std::optional<Error> const& fault,
                                     std::uint64_t live, rd::DestinationsFrom const& destinations,
                                     RedistributeOptions const& options) {
    engine::ContextState& state = engine::ContextState::of(context);
    engine::Entry const entry(state, "redistribute");
    rd::ReportedCall call(state, state.meter().held());
    rd::move_once(context, blocks, fault, live, destinations, options, call);
    return std::move(call.finish());
}

}  // namespace

RedistributionReport redistribute(Context& context, Blocks blocks, std::span<Destination const> destinations,
                                  RedistributeOptions const& options) {
    return redistribute_by(context, blocks, rd::fault_of(blocks.count, destinations), destinations.size(),
                           rd::listed(destinations), options);
}

RedistributionReport redistribute(Context& context, Blocks blocks, DestinationFunction const& destination,
                                  RedistributeOptions const& options) {
    std::optional<Error> fault;
    if (!destination) fault = rd::invalid("the destination function is empty");
    auto const* const data = static_cast<std::byte const*>(blocks.data);
    std::size_t const block_bytes = blocks.block_bytes.count;
    auto const of_block = [&](std::uint64_t block) {
        return destination(block, {data + block * block_bytes, block_bytes});
    };
    // A std::function has room for a reference; for a copy it would allocate, and one rank could fail alone.
    std::function<Destination(std::uint64_t)> const by_reference = std::cref(of_block);
    if (!fault) fault = rd::fault_of(blocks);
    if (!fault && base::checks_data(context.settings().check))
        fault = rd::fault_of_rule(context.rank(), blocks.count, by_reference);
    return redistribute_by(context, blocks, fault, blocks.count, rd::computed(by_reference), options);
}

}  // namespace sluice
