// SPDX-License-Identifier: BSD-3-Clause
#include "cases.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>

namespace sluice::bench {
namespace {

struct Size {
    int ranks;
    std::uint64_t slots;
};

/// All cases at sizes that show roundings: one rank, two ranks, odd numbers, slots that the ranks do not divide.
class Cases : public testing::TestWithParam<Size> {};

std::uint64_t live_of(Case const& map, int rank) {
    std::uint64_t live = 0;
    for (std::uint64_t index = 0; index < map.slots(rank); ++index)
        if (map.destination(rank, index).rank >= 0) ++live;
    return live;
}

TEST_P(Cases, send_no_two_blocks_to_one_slot_and_none_out_of_range) {
    auto const [ranks, slots] = GetParam();
    for (CaseEntry const& entry : cases()) {
        SCOPED_TRACE(entry.name);
        auto const map = entry.make(ranks, slots);
        std::set<std::pair<int, std::int64_t>> taken;
        for (int rank = 0; rank < ranks; ++rank)
            for (std::uint64_t index = 0; index < map->slots(rank); ++index) {
                Destination const to = map->destination(rank, index);
                if (to.rank < 0) continue;
                ASSERT_LT(to.rank, ranks);
                ASSERT_GE(to.index, 0);
                ASSERT_LT(static_cast<std::uint64_t>(to.index), map->slots(to.rank))
                    << "from " << rank << ", " << index;
                ASSERT_TRUE(taken.emplace(to.rank, to.index).second) << "from " << rank << ", " << index;
            }
    }
}

TEST_P(Cases, have_about_as_many_slots_as_asked_for) {
    auto const [ranks, slots] = GetParam();
    for (CaseEntry const& entry : cases()) {
        SCOPED_TRACE(entry.name);
        auto const map = entry.make(ranks, slots);
        std::uint64_t total = 0;
        for (int rank = 0; rank < ranks; ++rank)
            total += map->slots(rank);
        EXPECT_LE(total, 2 * slots * static_cast<std::uint64_t>(ranks));
        EXPECT_GE(total + static_cast<std::uint64_t>(ranks * ranks), slots * static_cast<std::uint64_t>(ranks));
    }
}

INSTANTIATE_TEST_SUITE_P(Sizes, Cases,
                         testing::Values(Size{1, 1}, Size{1, 10}, Size{2, 7}, Size{3, 20}, Size{4, 64}, Size{7, 50},
                                         Size{8, 101}, Size{16, 33}));

TEST(NextCase, has_no_free_slot_and_next20_a_fifth) {
    EXPECT_EQ(live_of(*make_case("next", 4, 100), 2), 100u);
    EXPECT_EQ(live_of(*make_case("next20", 4, 100), 2), 80u);
    EXPECT_EQ(make_case("next", 4, 100)->destination(3, 5), (Destination{0, 5}));
}

TEST(HotspotCase, empties_the_full_ranks_evenly_onto_all_others) {
    auto const map = make_case("hotspot", 5, 100);
    EXPECT_EQ(live_of(*map, 0), 0u);
    std::vector<int> received(5);
    for (std::uint64_t index = 0; index < map->slots(3); ++index)
        ++received[static_cast<std::size_t>(map->destination(3, index).rank)];
    EXPECT_EQ(received, (std::vector<int>{25, 25, 25, 0, 25}));
}

TEST(TransposeCase, is_the_formula_of_the_paper) {
    auto const map = make_case("transpose", 4, 100);  // 80 of them are live
    EXPECT_EQ(map->destination(2, 7), (Destination{(80 * 2 + 7) % 4, (80 * 2 + 7) / 4}));
    EXPECT_EQ(map->destination(2, 80).rank, -1);
}

TEST(RandomCase, spreads_the_blocks_of_a_rank_over_all) {
    auto const map = make_case("random", 4, 10000);
    std::vector<int> received(4);
    for (std::uint64_t index = 0; index < 10000; ++index)
        ++received[static_cast<std::size_t>(map->destination(1, index).rank)];
    for (int const blocks : received)
        EXPECT_NEAR(blocks, 2500, 250);
}

TEST(SkewedCase, has_one_rank_much_larger_than_another) {
    auto const map = make_case("skewed", 8, 1000);
    std::vector<std::uint64_t> sizes;
    for (int rank = 0; rank < 8; ++rank)
        sizes.push_back(map->slots(rank));
    EXPECT_GE(*std::max_element(sizes.begin(), sizes.end()), 7 * *std::min_element(sizes.begin(), sizes.end()));
}

TEST(RebalanceCase, keeps_the_global_order) {
    auto const map = make_case("rebalance", 5, 100);
    auto const partition = map->ordered_partition();
    ASSERT_TRUE(partition.has_value());
    std::int64_t place = 0;
    for (int rank = 0; rank < 5; ++rank) {
        EXPECT_EQ(partition->before[static_cast<std::size_t>(rank)], place);
        for (std::uint64_t index = 0; index < live_of(*map, rank); ++index, ++place) {
            Destination const to = map->destination(rank, index);
            EXPECT_EQ(partition->after[static_cast<std::size_t>(to.rank)] + to.index, place);
        }
    }
    EXPECT_EQ(partition->after.back(), place);
}

TEST(MakeCase, names_the_known_ones_when_there_is_none_of_that_name) {
    try {
        make_case("rondom", 2, 10);
        FAIL() << "made a case called rondom";
    } catch (Error const& error) {
        EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
        EXPECT_NE(std::string(error.what()).find("random"), std::string::npos);
    }
}

TEST(Permutation, hits_every_place_once) {
    for (std::uint64_t const size : {1U, 2U, 3U, 5U, 16U, 17U, 1000U, 4096U}) {
        Permutation const permute(size);
        std::vector<bool> hit(size);
        for (std::uint64_t place = 0; place < size; ++place) {
            std::uint64_t const to = permute(place);
            ASSERT_LT(to, size);
            ASSERT_FALSE(hit[to]) << "of " << size;
            hit[to] = true;
        }
    }
}

}  // namespace
}  // namespace sluice::bench
