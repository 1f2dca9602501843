// SPDX-License-Identifier: BSD-3-Clause
/// Runs a model to its end in a random order, fair or not.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "model/problem.hpp"

namespace sluice::tests::model {

/// How the next step is chosen among those that are possible.
enum class Order {
    any,         ///< each is equally likely
    one_by_one,  ///< the lowest rank that can make a step, as if the others slept
    late_kind,   ///< steps of the kind that is declared first (messages, sends) only if nothing else is possible
    early_kind,  ///< the other way round
    slow_rank,   ///< one rank moves only if no other rank can
};
inline constexpr int k_orders = 5;

namespace detail {

/// Returns the steps that `wanted` accepts, or all steps if it accepts none.
template <typename Step, typename Wanted>
std::vector<Step> those_or_all(std::vector<Step> const& steps, Wanted wanted) {
    std::vector<Step> chosen;
    std::copy_if(steps.begin(), steps.end(), std::back_inserter(chosen), wanted);
    return chosen.empty() ? steps : chosen;
}

template <typename Step>
std::vector<Step> candidates(std::vector<Step> const& steps, Order order) {
    auto const first_kind = [](Step const& step) { return static_cast<int>(step.kind) == 0; };
    switch (order) {
        case Order::any:
            return steps;
        case Order::one_by_one: {
            int lowest = steps.front().acting_rank();
            for (Step const& step : steps)
                lowest = std::min(lowest, step.acting_rank());
            return those_or_all(steps, [=](Step const& step) { return step.acting_rank() == lowest; });
        }
        case Order::late_kind:
            return those_or_all(steps, [=](Step const& step) { return !first_kind(step); });
        case Order::early_kind:
            return those_or_all(steps, first_kind);
        case Order::slow_rank:
            return those_or_all(steps, [](Step const& step) { return step.acting_rank() != 0; });
    }
    return steps;
}

}  // namespace detail

/// Makes steps until none is possible; returns how many. The number of steps in these models is bounded, so more than
/// `most_steps` mean that the model runs in a circle: the result is then `most_steps` + 1.
template <typename Model>
std::size_t run(Model& model, Random& random, Order order, std::size_t most_steps) {
    for (std::size_t done = 0; done <= most_steps; ++done) {
        auto const steps = model.enabled();
        if (steps.empty()) return done;
        auto const chosen = detail::candidates(steps, order);
        model.apply(chosen[static_cast<std::size_t>(draw(random, 0, static_cast<int>(chosen.size()) - 1))]);
    }
    return most_steps + 1;
}

}  // namespace sluice::tests::model
