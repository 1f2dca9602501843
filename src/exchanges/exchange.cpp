// SPDX-License-Identifier: BSD-3-Clause
/// The streamed all-to-all: unplanned, which is a plan that is used once, and planned.
#include "sluice/exchange.hpp"

#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <utility>

#include "engine/context_state.hpp"
#include "exchanges/plan_state.hpp"
#include "exchanges/planned.hpp"
#include "exchanges/run.hpp"

namespace sluice {

using exchanges::Takers;

ExchangePlan::State::~State() {
    planned.context().tell_if_late("an ExchangePlan");
    if (planned.is_connected() && std::uncaught_exceptions() == 0) try {
            planned.finish();
        } catch (std::exception const&) {
            // An MPI call failed.
        }
}

ExchangeReport ExchangePlan::State::apply(char const* call, std::span<OutgoingPart const> parts, Takers const& takers,
                                          std::optional<Error> const& fault) {
    engine::Entry const entry(planned.context(), call);
    return planned.apply(call, parts, takers, fault);
}

std::unique_ptr<ExchangePlan::State> exchanges::made_plan(Context& context,
                                                          std::optional<std::span<OutgoingPart const>> const& parts) {
    engine::ContextState& state = engine::ContextState::of(context);
    engine::Entry const entry(state, "ExchangePlan");
    std::optional<Error> fault;
    std::unique_ptr<ExchangePlan::State> made;
    try {
        if (parts) fault = fault_of_parts(state, *parts, Needs::sizes);
        made = std::make_unique<ExchangePlan::State>(context);
    } catch (std::bad_alloc const&) {
        fault = state.no_memory([] { return "for an ExchangePlan"; });
    }
    state.meet("ExchangePlan", fault);
    made->planned.connect();
    if (parts)
        made->planned.keep_to(*parts);
    else
        state.end_questions();
    return made;
}

namespace {

ExchangeReport exchange_once(Context& context, char const* call, std::span<OutgoingPart const> parts,
                             Takers const& takers) {
    engine::ContextState& state = engine::ContextState::of(context);
    engine::Entry const entry(state, call);
    std::optional<Error> fault;
    std::optional<exchanges::Planned> planned;
    try {
        fault = exchanges::fault_of_parts(state, parts, exchanges::Needs::data);
        if (!fault && !takers) fault = exchanges::fault_of_takers(state);
        planned.emplace(context);
    } catch (std::bad_alloc const&) {
        fault = state.no_memory([] { return "for an exchange"; });
    }
    state.meet(call, fault);
    planned->connect();
    ExchangeReport report;
    std::exception_ptr thrown;
    try {
        report = planned->apply_once(call, parts, takers);
    } catch (Error const& error) {
        if (error.code() == ErrorCode::mpi) throw;
        thrown = std::current_exception();
    } catch (...) {
        thrown = std::current_exception();
    }
    planned->finish();
    if (thrown) std::rethrow_exception(thrown);
    return report;
}

ExchangePlan::State& existing_exchange_plan(std::unique_ptr<ExchangePlan::State> const& state) {
    if (!state)
        throw Error(ErrorCode::invalid_argument,
                    "the ExchangePlan was moved from: use the object that it was moved to, or make a new one");
    return *state;
}

}  // namespace

ExchangeReport exchange(Context& context, std::span<OutgoingPart const> parts, PartTaker const& take) {
    return exchange_once(context, "exchange", parts, {&take, nullptr});
}

ExchangeReport exchange_in_tasks(Context& context, std::span<OutgoingPart const> parts, PartTask const& take) {
    return exchange_once(context, "exchange_in_tasks", parts, {nullptr, &take});
}

ExchangePlan::ExchangePlan(Context& context) : state_(exchanges::made_plan(context, std::nullopt)) {}
ExchangePlan::ExchangePlan(Context& context, std::span<OutgoingPart const> parts)
    : state_(exchanges::made_plan(context, parts)) {}
ExchangePlan::~ExchangePlan() = default;
ExchangePlan::ExchangePlan(ExchangePlan&&) noexcept = default;
ExchangePlan& ExchangePlan::operator=(ExchangePlan&&) noexcept = default;

ExchangeReport ExchangePlan::apply(std::span<OutgoingPart const> parts, PartTaker const& take) {
    return existing_exchange_plan(state_).apply("ExchangePlan::apply", parts, {&take, nullptr});
}

ExchangeReport ExchangePlan::apply_in_tasks(std::span<OutgoingPart const> parts, PartTask const& take) {
    return existing_exchange_plan(state_).apply("ExchangePlan::apply_in_tasks", parts, {nullptr, &take});
}

}  // namespace sluice
