// SPDX-License-Identifier: BSD-3-Clause
/// Redistribution by rank: a Plan, or one call, whose slots are chosen here (by_rank/rank_slots.hpp).
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

namespace {

/// Collective: the first step of the call of this name.
void meet(engine::ContextState& context, char const* call, std::span<int const> ranks, RankPlanOptions const& options) {
    groups::Agreement agreement;
    std::optional<Error> fault = rd::fault_of_ranks(ranks, context.rank(), context.size());
    if (!fault) fault = rd::fault_of_options_by_rank(options.redistribute);
    agreement.fault(fault);
    agreement.alike("order", options.order == BlockOrder::any ? "any" : "by_source");
    context.meet(call, agreement);
}

}  // namespace

struct RankPlan::State {
    /// The rest of a call that moves one array once: it needs no map for the calls after it.
    struct OneMove {
        OneMove(Context const& on, engine::ContextState& shared, std::span<int const> ranks, RankPlanOptions const& how)
            : context(on),
              options(how.redistribute),
              call(shared, shared.meter().held()),
              slots(shared, ranks, how.order) {}

        RedistributionReport run(Blocks const& blocks, std::optional<Error> const& fault, std::uint64_t live) {
            call.clock.step("resize");
            rd::move_once(context, blocks, fault, live, std::ref(slots), options, call);
            return std::move(call.finish());
        }

        Context const& context;
        RedistributeOptions const& options;
        rd::ReportedCall call;
        rd::RankSlots slots;
    };

    explicit State(Context const& made_on) : context(engine::ContextState::shared_by(made_on)) {}

    std::shared_ptr<engine::ContextState> context;
    std::uint64_t before = 0;
    std::uint64_t after = 0;
    std::optional<Plan> plan;
    std::optional<OneMove> once;  // in place of the plan
};

RankPlan::RankPlan(Context& context, std::span<int const> ranks, RankPlanOptions const& options)
    : state_(std::make_unique<State>(context)) {
    engine::ContextState& shared = *state_->context;
    engine::Entry const entry(shared, "RankPlan");
    meet(shared, "RankPlan", ranks, options);
    rd::RankSlots slots(shared, ranks, options.order);
    state_->before = ranks.size();
    state_->after = slots.choose(options.room);
    state_->plan = Plan(rd::make_plan(context, std::max(state_->before, state_->after), std::nullopt, ranks.size(),
                                      std::ref(slots), options.redistribute));
}

RankPlan::RankPlan(Once, Context& context, std::span<int const> ranks, RankPlanOptions const& options)
    : state_(std::make_unique<State>(context)) {
    engine::ContextState& shared = *state_->context;
    engine::Entry const entry(shared, "redistribute");
    State::OneMove& once = state_->once.emplace(context, shared, ranks, options);
    meet(shared, "redistribute by rank", ranks, options);
    state_->before = ranks.size();
    state_->after = once.slots.choose(options.room);
    once.call.clock.step("slots");
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
    if (state.once) {
        engine::Entry const entry(*state.context, "redistribute");
        return state.once->run(arrays.front(), fault, state.before);
    }
    engine::Entry const entry(*state.context, "RankPlan::apply");
    state.context->meet("RankPlan::apply", fault);
    state.context->end_questions();
    return state.plan->apply(arrays);
}

}  // namespace sluice
