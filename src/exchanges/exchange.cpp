// SPDX-License-Identifier: BSD-3-Clause
/// The streamed all-to-all: unplanned, which is a plan that is used once, and planned.
#include "sluice/exchange.hpp"

#include <exception>
#include <memory>
#include <optional>
#include <utility>

#include "engine/context_state.hpp"
#include "exchanges/planned.hpp"
#include "exchanges/run.hpp"

namespace sluice {

using exchanges::Takers;

struct ExchangePlan::State {
    explicit State(Context& context) : planned(context) {}
    ~State() {
        planned.context().tell_if_late("an ExchangePlan");
        if (std::uncaught_exceptions() == 0) try {
                planned.finish();
            } catch (std::exception const&) {
                // An MPI call failed.
            }
    }
    State(State const&) = delete;
    State& operator=(State const&) = delete;

    exchanges::Planned planned;
};

namespace {

ExchangeReport exchange_once(Context& context, char const* call, std::span<OutgoingPart const> parts,
                             Takers const& takers) {
    engine::ContextState& state = engine::ContextState::of(context);
    engine::Entry const entry(state, call);
    std::optional<Error> fault = exchanges::fault_of_parts(state, parts, exchanges::Needs::data);
    if (!fault && !takers) fault = exchanges::fault_of_takers(state);
    state.meet(call, fault);
    exchanges::Planned planned(context);
    ExchangeReport report;
    std::exception_ptr thrown;
    try {
        report = planned.apply_once(call, parts, takers);
    } catch (Error const& error) {
        if (error.code() == ErrorCode::mpi) throw;
        thrown = std::current_exception();
    } catch (...) {
        thrown = std::current_exception();
    }
    planned.finish();
    if (thrown) std::rethrow_exception(thrown);
    return report;
}

std::unique_ptr<ExchangePlan::State> made_exchange_plan(Context& context, std::optional<Error> const& fault) {
    engine::ContextState& state = engine::ContextState::of(context);
    engine::Entry const entry(state, "ExchangePlan");
    state.meet("ExchangePlan", fault);
    return std::make_unique<ExchangePlan::State>(context);
}

exchanges::Planned& existing_exchange_plan(std::unique_ptr<ExchangePlan::State> const& state) {
    if (!state)
        throw Error(ErrorCode::invalid_argument,
                    "the ExchangePlan was moved from: use the object that it was moved to, or make a new one");
    return state->planned;
}

ExchangeReport apply_exchange_plan(std::unique_ptr<ExchangePlan::State> const& state, char const* call,
                                   std::span<OutgoingPart const> parts, Takers const& takers) {
    exchanges::Planned& planned = existing_exchange_plan(state);
    engine::Entry const entry(planned.context(), call);
    return planned.apply(call, parts, takers);
}

}  // namespace

ExchangeReport exchange(Context& context, std::span<OutgoingPart const> parts, PartTaker const& take) {
    return exchange_once(context, "exchange", parts, {&take, nullptr});
}

ExchangeReport exchange_in_tasks(Context& context, std::span<OutgoingPart const> parts, PartTask const& take) {
    return exchange_once(context, "exchange_in_tasks", parts, {nullptr, &take});
}

ExchangePlan::ExchangePlan(Context& context) : state_(made_exchange_plan(context, std::nullopt)) {
    state_->planned.context().end_questions();
}

ExchangePlan::ExchangePlan(Context& context, std::span<OutgoingPart const> parts)
    : state_(made_exchange_plan(context, exchanges::fault_of_parts(engine::ContextState::of(context), parts,
                                                                   exchanges::Needs::sizes))) {
    engine::Entry const entry(state_->planned.context(), "ExchangePlan");
    state_->planned.keep_to(parts);
}

ExchangePlan::~ExchangePlan() = default;
ExchangePlan::ExchangePlan(ExchangePlan&&) noexcept = default;
ExchangePlan& ExchangePlan::operator=(ExchangePlan&&) noexcept = default;

ExchangeReport ExchangePlan::apply(std::span<OutgoingPart const> parts, PartTaker const& take) {
    return apply_exchange_plan(state_, "ExchangePlan::apply", parts, {&take, nullptr});
}

ExchangeReport ExchangePlan::apply_in_tasks(std::span<OutgoingPart const> parts, PartTask const& take) {
    return apply_exchange_plan(state_, "ExchangePlan::apply_in_tasks", parts, {nullptr, &take});
}

}  // namespace sluice
