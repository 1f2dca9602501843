// SPDX-License-Identifier: BSD-3-Clause
/// The library's own chain pull ends on every map, in whatever order fetches are started, land and are reported.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

#include "model/chain_machine.hpp"
#include "model/problem.hpp"
#include "support/effort.hpp"

namespace sluice::tests::model {

namespace {

constexpr int k_cases = 40'000;

void expect_all_end(bool one_spare, ChainMachine::Way way = ChainMachine::Way::messages) {
    for (int seed = 0; seed < effort(k_cases); ++seed) {
        Random random(static_cast<std::uint64_t>(seed));
        Problem problem = random_problem(random, 1);
        if (one_spare)
            for (int& spares : problem.spares)
                spares = 1;
        ChainMachine machine(problem, random, way);
        ASSERT_TRUE(machine.run(random)) << "case " << seed << " is stuck\n" << problem.text();
        ASSERT_TRUE(machine.is_right()) << "case " << seed << " lost a block\n" << problem.text();
        // Each of the two passes fetches each block that changes its rank once.
        std::size_t remote = 0;
        for (int rank = 0; rank < problem.ranks(); ++rank)
            for (auto const& from : problem.source[static_cast<std::size_t>(rank)])
                if (from && from->rank != rank) ++remote;
        ASSERT_EQ(machine.fetches(), 2 * remote) << "case " << seed << '\n' << problem.text();
    }
}

}  // namespace

TEST(ChainOfTheLibrary, ends_right_under_every_order_with_one_spare_slot) {
    expect_all_end(true);
}

TEST(ChainOfTheLibrary, ends_right_when_ranks_have_unequal_spare_slots) {
    expect_all_end(false);
}

TEST(ChainOfTheLibrary, ends_right_in_few_places_with_one_spare_place) {
    expect_all_end(true, ChainMachine::Way::pool);
}

TEST(ChainOfTheLibrary, ends_right_when_ranks_have_unequal_places) {
    expect_all_end(false, ChainMachine::Way::pool);
}

}  // namespace sluice::tests::model
