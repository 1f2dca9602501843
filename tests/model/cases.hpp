// SPDX-License-Identifier: BSD-3-Clause
/// Runs a model of a protocol on many random cases.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

#include "model/problem.hpp"
#include "model/scheduler.hpp"

namespace sluice::tests::model {

inline constexpr int k_cases = 100'000;
// There are at most 36 blocks, and a step for the notice, the fetch and the landing of each, or two looks of a rank at
// each slot and three steps for its block.
inline constexpr std::size_t k_most_steps = 36 * 7;

/// Runs `cases` random cases; returns how many got stuck.
template <typename Make, typename Check>
int stuck_cases(int cases, int least_spares, Make make, Check check) {
    int stuck = 0;
    for (int seed = 0; seed < cases; ++seed) {
        Random random(static_cast<std::uint64_t>(seed));
        Problem problem = random_problem(random, least_spares);
        auto model = make(problem, random);
        auto const order = static_cast<Order>(draw(random, 0, k_orders - 1));
        std::size_t const steps = run(model, random, order, k_most_steps);
        EXPECT_LE(steps, k_most_steps) << "case " << seed << " runs in a circle\n" << problem.text();
        if (!model.finished())
            ++stuck;
        else
            check(model, problem, seed);
        if (testing::Test::HasFailure()) break;
    }
    return stuck;
}

inline auto const expect_right = [](auto& model, Problem const& problem, int seed) {
    EXPECT_TRUE(model.is_right()) << "case " << seed << '\n' << problem.text() << model.text();
};

}  // namespace sluice::tests::model
