// SPDX-License-Identifier: BSD-3-Clause
/// How long a rank looks for fetches: an array must not be searched in vain after each block that comes. What the chain
/// moves, and that it ends, is the matter of tests/model.
#include "redistribution/strategies/token/chain.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace sluice::redistribution {
namespace {

constexpr std::uint64_t k_slots = 100'000;
constexpr std::uint64_t k_word = sizeof(std::uint64_t);
constexpr std::size_t k_entries = 4;

/// Rank 0 of four, all of whose slots want blocks of rank 1.
class ChainOfManySlots : public testing::Test {
  protected:
    /// The slots hold blocks that leave, or are vacant.
    void begin(bool live, std::size_t lanes = 4) {
        for (std::uint64_t slot = 0; slot < k_slots; ++slot) {
            inverse_.set(slot, {1, static_cast<std::int64_t>(k_slots - 1 - slot)});
            if (live) inverse_.set_mark(slot);
        }
        chain_.emplace(inverse_, 0, ChainMemory{k_word, 2 * k_entries, lanes, k_entries}, meter_, counters_);
    }
    Chain& start() {
        chain_->begin_pass({reinterpret_cast<std::byte*>(array_.data()), k_word, 0, k_word}, 0);
        return *chain_;
    }

    memory::Meter meter_;
    base::Counters counters_;
    AddressMap inverse_{k_slots, 4, k_slots, meter_};
    std::vector<std::uint64_t> array_ = std::vector<std::uint64_t>(k_slots);
    std::optional<Chain> chain_;
};

TEST_F(ChainOfManySlots, looks_no_further_than_lanes_have_room) {
    for (bool const live : {false, true}) {
        begin(live);
        Chain& chain = start();
        EXPECT_TRUE(chain.queue_fetches());
        EXPECT_EQ(chain.lane(1).count, k_entries);
        EXPECT_FALSE(chain.has_more_to_look_at());
        EXPECT_FALSE(chain.queue_fetches());

        EXPECT_EQ(chain.take(1, 2).size(), 2U);
        EXPECT_TRUE(chain.has_more_to_look_at());
        EXPECT_TRUE(chain.queue_fetches());
        EXPECT_EQ(chain.lane(1).count, k_entries);
        EXPECT_FALSE(chain.has_more_to_look_at());
    }
}

/// One slot at the end wants a block of another rank, whose lane has room: the search for it goes on.
TEST_F(ChainOfManySlots, finds_the_slot_whose_lane_has_room) {
    begin(false);
    inverse_.set(k_slots - 1, {2, 0});
    Chain& chain = start();
    while (chain.has_more_to_look_at())
        chain.queue_fetches();
    EXPECT_EQ(chain.lane(1).count, k_entries);
    EXPECT_EQ(chain.lane(2).count, 1U);
}

/// Ranks 1 and 3 have one lane. It collects for one of them at a time, and a look at all slots in vain ends the search.
TEST_F(ChainOfManySlots, sources_that_share_a_lane_take_turns) {
    begin(false, 2);
    inverse_.set(k_slots - 1, {3, 0});
    Chain& chain = start();
    std::uint64_t of_rank_3 = 0;
    for (std::uint64_t taken = 0; taken < k_slots;) {
        while (chain.has_more_to_look_at())
            chain.queue_fetches();
        std::size_t const count = chain.lane(1).count;
        ASSERT_GT(count, 0U);
        if (chain.lane(1).source == 3) of_rank_3 += count;
        taken += chain.take(1, count).size();
    }
    EXPECT_EQ(of_rank_3, 1U);
}

/// The own blocks need no lane. With one lane they would be counted as those of rank 1, whose lane is full.
TEST_F(ChainOfManySlots, blocks_of_its_own_wait_for_no_lane) {
    begin(false, 1);
    inverse_.set(k_slots - 1, {0, k_slots - 2});
    inverse_.set_mark(k_slots - 2);
    Chain& chain = start();
    array_[k_slots - 2] = 42;
    while (chain.has_more_to_look_at())
        chain.queue_fetches();
    EXPECT_EQ(chain.lane(0).count, k_entries);
    EXPECT_EQ(array_[k_slots - 1], 42U);
}

}  // namespace
}  // namespace sluice::redistribution
