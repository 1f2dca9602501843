// SPDX-License-Identifier: BSD-3-Clause
/// Finds where a program is in its plan, also if the program does not keep to it.
#include "paged/paging_plan.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace sluice::tests {
namespace {

using paged::PagingPlan;

std::vector<std::size_t> ahead(PagingPlan const& plan, std::size_t most = 1000) {
    std::vector<std::size_t> blocks;
    plan.look_ahead([&](BlockUse const& use) {
        blocks.push_back(use.block);
        return blocks.size() < most;
    });
    return blocks;
}

std::vector<BlockUse> reads(std::vector<std::size_t> const& blocks) {
    std::vector<BlockUse> uses;
    for (std::size_t const block : blocks)
        uses.push_back({block, BlockAccess::read});
    return uses;
}

using Blocks = std::vector<std::size_t>;

TEST(PagingPlan, goes_on_from_use_to_use_and_ends) {
    PagingPlan plan(4);
    EXPECT_TRUE(ahead(plan).empty());
    EXPECT_FALSE(plan.used(1));
    plan.set(reads({0, 1, 2, 1}), false);
    EXPECT_EQ(ahead(plan), (Blocks{0, 1, 2, 1}));
    EXPECT_EQ(plan.next_need(1), 1U);
    EXPECT_EQ(plan.next_need(3), PagingPlan::k_never);
    EXPECT_TRUE(plan.used(0));
    EXPECT_TRUE(plan.used(1));
    EXPECT_EQ(ahead(plan), (Blocks{2, 1}));
    EXPECT_EQ(plan.next_need(1), 1U);
    EXPECT_EQ(plan.next_need(0), PagingPlan::k_never);
    EXPECT_FALSE(plan.used(3));
    EXPECT_TRUE(plan.used(2));
    EXPECT_TRUE(plan.used(1));
    EXPECT_FALSE(plan.used(1));
    EXPECT_TRUE(ahead(plan).empty());
}

TEST(PagingPlan, goes_round) {
    PagingPlan plan(3);
    plan.set(reads({0, 1, 2}), true);
    for (std::size_t turn = 0; turn < 10; ++turn)
        for (std::size_t block = 0; block < 3; ++block) {
            EXPECT_EQ(ahead(plan), (Blocks{block, (block + 1) % 3, (block + 2) % 3}));
            EXPECT_EQ(plan.next_need((block + 2) % 3), 2U);
            EXPECT_TRUE(plan.used(block));
        }
}

TEST(PagingPlan, knows_what_was_used_out_of_turn) {
    PagingPlan plan(4);
    plan.set(reads({0, 1, 2, 3}), true);
    EXPECT_TRUE(plan.used(2));
    EXPECT_EQ(ahead(plan), (Blocks{0, 1, 3}));
    EXPECT_EQ(plan.next_need(2), 6U);  // in the next round
    EXPECT_TRUE(plan.used(0));
    EXPECT_EQ(ahead(plan), (Blocks{1, 3, 0}));
    EXPECT_TRUE(plan.used(1));
    EXPECT_EQ(ahead(plan), (Blocks{3, 0, 1, 2}));
}

TEST(PagingPlan, does_not_need_what_will_be_overwritten) {
    PagingPlan plan(2);
    plan.set({{0, BlockAccess::write}, {1, BlockAccess::update}, {0, BlockAccess::read}}, true);
    EXPECT_EQ(plan.next_need(0), PagingPlan::k_never);
    EXPECT_EQ(plan.next_need(1), 1U);
    EXPECT_TRUE(plan.used(0));
    EXPECT_EQ(plan.next_need(0), 1U);
}

TEST(PagingPlan, takes_what_many_others_pass_for_dropped) {
    PagingPlan plan(3);
    plan.set(reads({0, 1, 2}), true);
    EXPECT_TRUE(plan.used(1));
    EXPECT_TRUE(plan.used(2));
    int uses = 0;
    while (!plan.used(1) && uses < 1000)
        ++uses;
    EXPECT_GT(uses, 10);
    EXPECT_LT(uses, 100);  // the next round has begun, without block 0
    PagingPlan longer(200);
    std::vector<std::size_t> blocks(200);
    for (std::size_t i = 0; i < blocks.size(); ++i)
        blocks[i] = i;
    longer.set(reads(blocks), true);
    for (std::size_t i = 1; i < 100; ++i)
        EXPECT_TRUE(longer.used(i));
    EXPECT_EQ(ahead(longer, 1), (Blocks{100}));
    EXPECT_EQ(longer.next_need(0), 100U);  // in the next round
}

}  // namespace
}  // namespace sluice::tests
