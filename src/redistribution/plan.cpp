// SPDX-License-Identifier: BSD-3-Clause
/// A validated map that is applied to several arrays or many times.
#include "base/checks_data.hpp"
#include "groups/agreement.hpp"
#include "redistribution/arguments.hpp"
#include "redistribution/plan_state.hpp"
#include "sluice/redistribute.hpp"

namespace sluice {

namespace rd = redistribution;

std::unique_ptr<Plan::State> rd::make_plan(Context const& context, std::uint64_t count,
                                           std::optional<Error> const& fault, std::uint64_t live,
                                           DestinationsFrom const& destinations, RedistributeOptions const& options) {
    engine::Entry const entry(engine::ContextState::of(context), "Plan");
    auto state = std::make_unique<Plan::State>(context, count, options);
    groups::Agreement agreement;
    agreement.fault(fault);
    agreement.alike("staging", state->staging);
    agreement.alike("strategy", name_of(state->strategy));
    agreement.alike("inverse", options.inverse ? "given" : "not given");
    std::uint64_t const& most_slots = agreement.most(count);
    state->context.meet("Plan", agreement);
    state->take_map(live, destinations, most_slots, nullptr, false, options.inverse);
    return state;
}

Plan::Plan(std::unique_ptr<State> state) : state_(std::move(state)) {}

Plan::Plan(Context& context, std::uint64_t count, std::span<Destination const> destinations,
           RedistributeOptions const& options)
    : state_(rd::make_plan(context, count, rd::fault_of(count, destinations), destinations.size(),
                           rd::listed(destinations), options)) {}

Plan Plan::computed(Context& context, std::uint64_t count,
                    std::function<Destination(std::uint64_t index)> const& destination,
                    RedistributeOptions const& options) {
    std::optional<Error> fault;
    if (!destination)
        fault = rd::invalid("the destination function is empty");
    else if (base::checks_data(context.settings().check))
        fault = rd::fault_of_rule(context.rank(), count, destination);
    return Plan(rd::make_plan(context, count, fault, count, rd::computed(destination), options));
}

Plan::~Plan() = default;
Plan::Plan(Plan&&) noexcept = default;
Plan& Plan::operator=(Plan&&) noexcept = default;

RedistributionReport Plan::apply(std::span<Blocks const> arrays) {
    engine::ContextState& context = rd::existing(state_, "Plan").context;
    engine::Entry const entry(context, "Plan::apply");
    rd::ReportedCall call(context, {0});
    std::optional<Error> fault;
    for (Blocks const& blocks : arrays) {
        if (!fault) fault = rd::fault_of(blocks);
        if (!fault && blocks.count != state_->slots)
            fault = rd::invalid("the plan is for arrays of " + std::to_string(state_->slots) +
                                " blocks, this one has " + std::to_string(blocks.count));
    }
    groups::Agreement same_number;
    same_number.fault(fault);
    same_number.alike("number of arrays", arrays.size());
    context.meet("Plan::apply", same_number);
    if (arrays.empty()) context.end_questions();
    for (Blocks const& blocks : arrays) {
        groups::Agreement same_blocks;
        same_blocks.alike("block_bytes", blocks.block_bytes.count);
        std::uint64_t const& are_shared = same_blocks.least(state_->may_share(blocks) ? 1 : 0);
        context.agree(same_blocks);
        state_->share(are_shared != 0 ? &blocks : nullptr);
        state_->prepare(blocks.block_bytes.count);
        call.clock.step("prepare");
        state_->move(static_cast<std::byte*>(blocks.data), call.report);
    }
    return std::move(call.finish());
}

Bytes Plan::memory() const {
    return rd::existing(state_, "Plan").memory();
}

}  // namespace sluice
