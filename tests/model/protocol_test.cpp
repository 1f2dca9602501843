// SPDX-License-Identifier: BSD-3-Clause
/// The protocols of the token strategy end on every map under every order of steps and messages, as far as random
/// orders of many small cases can show; the Promela models next to this file show it for all orders of fewer cases. The
/// known mistakes get stuck here, so a protocol that is stuck would be noticed.
#include <gtest/gtest.h>

#include <stdexcept>

#include "model/cases.hpp"
#include "model/chain_pull.hpp"
#include "model/pool/pool_pull.hpp"
#include "model/problem.hpp"
#include "model/scan.hpp"
#include "model/walk.hpp"
#include "support/effort.hpp"

namespace sluice::tests::model {

namespace {

auto const settle_and_expect_right = [](Scan& model, Problem const& problem, int seed) {
    model.settle();
    expect_right(model, problem, seed);
};

}  // namespace

TEST(ChainPull, ends_right_under_every_order_with_one_spare_slot) {
    auto const make = [](Problem& problem, Random&) {
        for (int& spares : problem.spares)
            spares = 1;
        return ChainPull(problem);
    };
    EXPECT_EQ(stuck_cases(effort(k_cases), 1, make, expect_right), 0);
}

TEST(ChainPull, ends_right_when_ranks_have_unequal_spare_slots) {
    auto const make = [](Problem& problem, Random&) { return ChainPull(problem); };
    EXPECT_EQ(stuck_cases(effort(k_cases), 1, make, expect_right), 0);
}

TEST(ChainPull, gets_stuck_without_a_spare_slot) {
    auto const make = [](Problem& problem, Random&) { return ChainPull(problem); };
    EXPECT_GT(stuck_cases(2000, 0, make, expect_right), 0);
}

TEST(ChainPull, gets_stuck_when_local_moves_are_left_to_the_end) {
    auto const make = [](Problem& problem, Random&) { return ChainPull(problem, true); };
    EXPECT_GT(stuck_cases(2000, 1, make, expect_right), 0);
}

TEST(PoolPull, ends_right_under_every_order_with_one_place_of_each_kind) {
    auto const make = [](Problem& problem, Random&) {
        for (int& ahead : problem.spares)
            ahead = 1;
        return PoolPull(problem, 1);
    };
    EXPECT_EQ(stuck_cases(effort(k_cases), 1, make, expect_right), 0);
}

TEST(PoolPull, ends_right_when_ranks_have_unequal_places) {
    auto const make = [](Problem& problem, Random& random) { return PoolPull(problem, draw(random, 1, 4)); };
    EXPECT_EQ(stuck_cases(effort(k_cases), 1, make, expect_right), 0);
}

TEST(PoolPull, gets_stuck_when_blocks_fetched_ahead_may_take_all_places) {
    auto const make = [](Problem& problem, Random&) { return PoolPull(problem, 1, true); };
    EXPECT_GT(stuck_cases(effort(k_cases), 1, make, expect_right), 0);
}

TEST(PoolPull, gets_stuck_without_a_place_for_blocks_fetched_ahead) {
    auto const make = [](Problem& problem, Random&) { return PoolPull(problem, 1); };
    EXPECT_GT(stuck_cases(2000, 0, make, expect_right), 0);
}

TEST(Scan, ends_right_when_a_channel_holds_one_block_and_a_rank_one_spare) {
    auto const make = [](Problem& problem, Random&) {
        for (int& spares : problem.spares)
            spares = 1;
        return Scan(problem, 1);
    };
    EXPECT_EQ(stuck_cases(effort(k_cases), 1, make, settle_and_expect_right), 0);
}

TEST(Scan, ends_right_when_ranks_have_unequal_spare_slots_and_channels_any_capacity) {
    auto const make = [](Problem& problem, Random& random) { return Scan(problem, draw(random, 1, 4)); };
    EXPECT_EQ(stuck_cases(effort(k_cases), 1, make, settle_and_expect_right), 0);
}

// A block in a channel has left its slot, so the channels are sufficient room; but a full rank cannot open a cycle of
// its own.
TEST(Scan, moves_everything_without_a_spare_slot_but_cannot_always_settle) {
    auto const make = [](Problem& problem, Random&) {
        for (int& spares : problem.spares)
            spares = 0;
        return Scan(problem, 1);
    };
    int unsettled = 0;
    auto const settle_where_possible = [&](Scan& model, Problem const&, int) {
        try {
            model.settle();
        } catch (std::logic_error const&) {
            ++unsettled;
        }
    };
    EXPECT_EQ(stuck_cases(2000, 0, make, settle_where_possible), 0);
    EXPECT_GT(unsettled, 0);
}

TEST(Scan, gets_stuck_when_it_waits_at_a_full_channel) {
    auto const make = [](Problem& problem, Random&) { return Scan(problem, 1, true); };
    EXPECT_GT(stuck_cases(effort(k_cases), 1, make, settle_and_expect_right), 0);
}

TEST(Walk, ends_right_under_every_order_with_one_hand_on_each_rank) {
    auto const make = [](Problem& problem, Random&) {
        for (int& hands : problem.spares)
            hands = 1;
        return Walk(problem);
    };
    EXPECT_EQ(stuck_cases(effort(k_cases), 1, make, expect_right), 0);
}

TEST(Walk, ends_right_when_ranks_have_several_hands) {
    auto const make = [](Problem& problem, Random&) { return Walk(problem); };
    EXPECT_EQ(stuck_cases(effort(k_cases), 1, make, expect_right), 0);
}

TEST(Walk, gets_stuck_when_ranks_start_at_blocks_before_their_free_slots) {
    auto const make = [](Problem& problem, Random&) { return Walk(problem, true); };
    EXPECT_GT(stuck_cases(effort(k_cases), 1, make, expect_right), 0);
}

}  // namespace sluice::tests::model
