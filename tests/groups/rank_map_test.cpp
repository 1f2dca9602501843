// SPDX-License-Identifier: BSD-3-Clause
#include "groups/rank_map.hpp"

#include <gtest/gtest.h>

#include <array>
#include <initializer_list>
#include <limits>

namespace sluice::groups {
namespace {

StridedRanks found_in(std::initializer_list<int> ranks) {
    StrideFinder finder;
    for (int const rank : ranks)
        finder.take(rank);
    return finder.found();
}

TEST(RankMap, is_an_identity_a_range_or_a_stride) {
    EXPECT_EQ(RankMap()(5), 5);
    EXPECT_EQ(RankMap::range(3)(5), 8);
    RankMap const down = StridedRanks{10, -2};
    EXPECT_EQ(down(0), 10);
    EXPECT_EQ(down(4), 2);
}

TEST(RankMap, looks_up_a_list) {
    std::array const ranks{4, 0, 7};
    RankMap const map = RankMap::list(ranks);
    for (std::size_t i = 0; i < ranks.size(); ++i)
        EXPECT_EQ(map(static_cast<int>(i)), ranks[i]);
}

TEST(RankMap, asks_a_function_with_its_argument) {
    int const by = 3;
    RankMap const map = RankMap::function(
        [](void const* argument, int member) { return member * *static_cast<int const*>(argument); }, &by);
    EXPECT_EQ(map(0), 0);
    EXPECT_EQ(map(5), 15);
}

TEST(StridedRanks, of_a_damaged_record_do_not_overflow) {
    StridedRanks const ranks{std::numeric_limits<int>::max(), std::numeric_limits<int>::max()};
    EXPECT_EQ(ranks.at(2), 3 * std::int64_t{std::numeric_limits<int>::max()});
}

TEST(StrideFinder, finds_the_distance_of_members_in_a_row) {
    EXPECT_EQ(found_in({5}).first, 5);
    EXPECT_EQ(found_in({5}).stride, 1);
    EXPECT_EQ(found_in({3, 4, 5}).stride, 1);
    EXPECT_EQ(found_in({3, 5, 7, 9}).stride, 2);
    EXPECT_EQ(found_in({9, 6, 3}).stride, -3);
    EXPECT_TRUE(found_in({9, 6, 3}).is_regular());
}

TEST(StrideFinder, members_at_other_distances_are_not_regular_and_keep_the_first) {
    EXPECT_FALSE(found_in({3, 4, 6}).is_regular());
    EXPECT_FALSE(found_in({3, 5, 7, 8, 11}).is_regular());
    EXPECT_EQ(found_in({3, 4, 6}).first, 3);
}

}  // namespace
}  // namespace sluice::groups
