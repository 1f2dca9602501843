// SPDX-License-Identifier: BSD-3-Clause
/// What an ExchangePlan holds, for it and for the C interface.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "exchanges/planned.hpp"
#include "sluice/exchange.hpp"

namespace sluice {

struct ExchangePlan::State {
    /// Not collective: Planned.
    explicit State(Context& context) : planned(context) {}
    /// Waits for all ranks, unless an exception is being handled.
    ~State();
    State(State const&) = delete;
    State& operator=(State const&) = delete;

    /// `fault`: what the caller has found wrong with its arguments.
    ExchangeReport apply(char const* call, std::span<OutgoingPart const> parts, exchanges::Takers const& takers,
                         std::optional<Error> const& fault = std::nullopt);

    /// For tests.
    static State& of(ExchangePlan const& plan) noexcept { return *plan.state_; }

    exchanges::Planned planned;
};

namespace exchanges {

/// Collective. Without `parts` they may change from call to call.
std::unique_ptr<ExchangePlan::State> made_plan(Context& context,
                                               std::optional<std::span<OutgoingPart const>> const& parts);

}  // namespace exchanges
}  // namespace sluice
