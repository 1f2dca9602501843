// SPDX-License-Identifier: BSD-3-Clause
/// Forms for small blocks: the relay form ends on every map, and gets stuck with its known mistakes; regions with heads
/// and tails get stuck, and do not if a block may land anywhere.
#include <gtest/gtest.h>

#include "model/cases.hpp"
#include "model/small/flag.hpp"
#include "model/small/relay.hpp"
#include "support/effort.hpp"

namespace sluice::tests::model {

namespace {

auto const make_flag = [](bool is_repaired) {
    return [is_repaired](Problem& problem, Random& random) {
        int const region_slots = draw(random, 1, 3);
        return Flag(problem, region_slots, draw(random, 1, 2), is_repaired);
    };
};

auto const make_relay = [](Relay::Mistake mistake) {
    return [mistake](Problem& problem, Random& random) { return Relay(problem, draw(random, 1, 3), mistake); };
};

}  // namespace

TEST(Flag, gets_stuck_when_blocks_land_only_in_their_regions) {
    EXPECT_GT(stuck_cases(2000, 1, make_flag(false), expect_right), 0);
}

TEST(Flag, never_gets_stuck_when_blocks_land_anywhere_and_leave_from_anywhere) {
    int strays = 0;
    auto const check = [&](Flag& model, Problem const& problem, int seed) {
        strays += model.strays();
        expect_right(model, problem, seed);
    };
    EXPECT_EQ(stuck_cases(effort(k_cases), 1, make_flag(true), check), 0);
    EXPECT_GT(strays, 0);
}

TEST(Relay, ends_right_under_every_order_with_one_credit_and_channels_of_one_block) {
    auto const make = [](Problem& problem, Random&) {
        for (int& credits : problem.spares)
            credits = 1;
        return Relay(problem, 1);
    };
    EXPECT_EQ(stuck_cases(effort(k_cases), 1, make, expect_right), 0);
}

TEST(Relay, ends_right_when_ranks_have_unequal_credits_and_channels_any_capacity) {
    EXPECT_EQ(stuck_cases(effort(k_cases), 1, make_relay(Relay::Mistake::none), expect_right), 0);
}

TEST(Relay, gets_stuck_when_a_block_waits_until_the_displaced_one_can_travel_on) {
    EXPECT_GT(stuck_cases(effort(k_cases), 1, make_relay(Relay::Mistake::waits_for_channels), expect_right), 0);
}

TEST(Relay, gets_stuck_when_credits_stay_where_blocks_come_to_rest) {
    EXPECT_GT(stuck_cases(2000, 1, make_relay(Relay::Mistake::keeps_credits), expect_right), 0);
}

}  // namespace sluice::tests::model
