// SPDX-License-Identifier: BSD-3-Clause
#include "redistribution/block_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <random>
#include <vector>

namespace sluice::redistribution {
namespace {

/// An array of numbered blocks of 8 bytes on rank 1 of 3.
class BlockOrderOf : public ::testing::Test {
  protected:
    static constexpr int k_ranks = 3;
    static constexpr int k_rank = 1;

    void start(std::vector<Destination> const& destinations, bool with_spare = false) {
        std::uint64_t const slots = destinations.size();
        forward.emplace(slots, k_ranks, 1000, meter);
        for (std::uint64_t slot = 0; slot < slots; ++slot)
            if (destinations[slot].rank >= 0) forward->set(slot, destinations[slot]);
        numbers.resize(slots);
        std::iota(numbers.begin(), numbers.end(), std::uint64_t{0});
        order.emplace(slots + (with_spare ? 1 : 0), k_ranks, k_rank, meter);
        order->start(*forward, slots + (with_spare ? 1 : 0));
    }
    BlockArray blocks() {
        return {reinterpret_cast<std::byte*>(numbers.data()), numbers.size(), 8,
                reinterpret_cast<std::byte*>(&spare_number)};
    }
    std::uint64_t sort() { return order->sort(blocks(), room.data()); }

    memory::Meter meter;
    std::optional<AddressMap> forward;
    std::optional<BlockOrder> order;
    std::vector<std::uint64_t> numbers;
    std::uint64_t spare_number = 0;
    std::array<std::byte, 8> room{};
};

TEST_F(BlockOrderOf, counts_the_blocks_for_each_rank) {
    start({{2, 0}, free_block, {0, 0}, {1, 0}, {2, 1}});
    EXPECT_EQ(order->count(0), 1U);
    EXPECT_EQ(order->count(1), 1U);
    EXPECT_EQ(order->count(2), 2U);
    EXPECT_EQ(order->free(), 1U);
    EXPECT_EQ(order->leaving(), 3U);
}

TEST_F(BlockOrderOf, sorts_by_destination_rank_with_the_free_slots_at_the_end) {
    start({{2, 7}, free_block, {0, 5}, {1, 3}, {2, 8}, {0, 6}});
    sort();
    EXPECT_EQ(order->begin(0), 0U);
    EXPECT_EQ(order->begin(1), 2U);
    EXPECT_EQ(order->begin(2), 3U);
    EXPECT_EQ(order->free_begin(), 5U);
    std::vector<int> ranks;
    for (std::uint64_t slot = 0; slot < 6; ++slot)
        ranks.push_back((*order)[slot].rank);
    EXPECT_EQ(ranks, (std::vector<int>{0, 0, 1, 2, 2, -1}));
}

TEST_F(BlockOrderOf, copies_nothing_when_the_blocks_are_in_order) {
    start({{0, 0}, {1, 0}, {1, 1}, {2, 0}, free_block});
    EXPECT_EQ(sort(), 0U);
}

TEST_F(BlockOrderOf, copies_only_misplaced_blocks) {
    start({{0, 0}, {0, 1}, free_block, {0, 2}, {2, 0}, {2, 1}});
    EXPECT_EQ(sort(), 2U);  // one block of rank 0 into the gap, one of rank 2 after it
}

TEST_F(BlockOrderOf, keeps_the_destination_with_its_block_through_a_sort) {
    std::mt19937 random(5);
    for (int round = 0; round < 200; ++round) {
        std::vector<Destination> destinations(random() % 40);
        std::int64_t index = 0;
        for (Destination& to : destinations)
            to = {static_cast<int>(random() % 4) - 1, index++};
        start(destinations);
        sort();
        for (std::uint64_t slot = 0; slot < numbers.size(); ++slot) {
            if ((*order)[slot] == free_block) continue;
            EXPECT_EQ((*order)[slot], destinations[numbers[slot]]);
        }
        for (std::uint64_t slot = 1; slot < order->live(); ++slot)
            EXPECT_LE((*order)[slot - 1].rank, (*order)[slot].rank);
    }
}

TEST_F(BlockOrderOf, reclaims_the_slots_of_blocks_that_left_and_takes_those_that_came) {
    start({{0, 0}, {0, 1}, {1, 0}, {2, 0}, free_block});
    sort();
    std::uint64_t const word = reinterpret_cast<std::uint64_t const*>(order->words().data)[2];  // of a block for rank 1
    order->release(order->begin(0), 2);
    EXPECT_EQ(order->free(), 3U);
    EXPECT_EQ(order->count(0), 0U);
    order->arrived_word(4, word);
    EXPECT_EQ(order->count(1), 2U);
    sort();
    EXPECT_EQ(order->begin(2), 2U);
    EXPECT_EQ(order->free_begin(), 3U);
}

TEST_F(BlockOrderOf, settles_by_following_cycles) {
    start({{1, 2}, {1, 0}, {1, 1}, {1, 4}, free_block});
    EXPECT_EQ(order->settle(blocks(), room.data()), 5U);  // a cycle of 3 and one move
    EXPECT_EQ(numbers[2], 0U);
    EXPECT_EQ(numbers[0], 1U);
    EXPECT_EQ(numbers[1], 2U);
    EXPECT_EQ(numbers[4], 3U);
}

TEST_F(BlockOrderOf, brings_a_block_home_from_the_spare_slot) {
    start({{2, 0}, {1, 1}}, true);
    std::uint64_t const word_of_slot_0 = reinterpret_cast<std::uint64_t const*>(order->words().data)[1] - 1;  // (1, 0)
    spare_number = 77;
    order->arrived_word(2, word_of_slot_0);
    order->release(0, 1);
    order->settle(blocks(), room.data());
    EXPECT_EQ(numbers[0], 77U);
    EXPECT_EQ(numbers[1], 1U);
}

}  // namespace
}  // namespace sluice::redistribution
