// SPDX-License-Identifier: BSD-3-Clause
/// Redistribution by rank: a Plan whose slots are chosen here (by_rank/rank_slots.hpp).
#include "sluice/rank_plan.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "engine/context_state.hpp"
#include "groups/agreement.hpp"
#include "redistribution/arguments.hpp"
#include "redistribution/by_rank/rank_slots.hpp"
#include "redistribution/plan_state.hpp"

namespace sluice {

namespace rd = redistribution;

struct RankPlan::State {
    std::uint64_t before = 0;
    std::uint64_t after = 0;
    std::optional<Plan> plan;
    std::shared_ptr<engine::ContextState> context;
};

RankPlan::RankPlan(Context& context, std::span<int const> ranks, RankPlanOptions const& options)
    : state_(std::make_unique<State>()) {
    state_->context = engine::ContextState::shared_by(context);
    engine::ContextState& shared = *state_->context;
    engine::Entry const entry(shared, "RankPlan");
    groups::Agreement agreement;
    std::optional<Error> fault = rd::fault_of_ranks(ranks, shared.rank(), shared.size());
    if (!fault) fault = rd::fault_of_options_by_rank(options.redistribute);
    agreement.fault(fault);
    agreement.alike("order", options.order == BlockOrder::any ? "any" : "by_source");
    shared.meet("RankPlan", agreement);
    rd::RankSlots slots(shared, ranks, options.order);
    state_->before = ranks.size();
    state_->after = slots.choose(options.room);
    state_->plan = Plan(rd::make_plan(context, std::max(state_->before, state_->after), std::nullopt, ranks.size(),
                                      std::ref(slots), options.redistribute));
}

RankPlan::~RankPlan() = default;
RankPlan::RankPlan(RankPlan&&) noexcept = default;
RankPlan& RankPlan::operator=(RankPlan&&) noexcept = default;

std::uint64_t RankPlan::count_before() const {
    return rd::existing(state_, "RankPlan").before;
}
std::uint64_t RankPlan::count_after() const {
    return rd::existing(state_, "RankPlan").after;
}
std::uint64_t RankPlan::slots() const {
    return std::max(count_before(), count_after());
}

RedistributionReport RankPlan::apply(std::span<Blocks const> arrays) {
    return rd::existing(state_, "RankPlan").plan->apply(arrays);
}

RedistributionReport RankPlan::apply(std::span<Blocks const> arrays, std::optional<Error> const& fault) {
    State& state = rd::existing(state_, "RankPlan");
    engine::Entry const entry(*state.context, "RankPlan::apply");
    state.context->meet("RankPlan::apply", fault);
    state.context->end_questions();
    return state.plan->apply(arrays);
}

}  // namespace sluice
