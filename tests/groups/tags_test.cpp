// SPDX-License-Identifier: BSD-3-Clause
#include "groups/tags.hpp"

#include <gtest/gtest.h>

namespace sluice::groups {
namespace {

TEST(Tags, ranges_that_share_a_tag_are_not_apart) {
    EXPECT_TRUE(tags::are_apart(std::array{TagRange{10, 4}, TagRange{0, 10}, TagRange{14, 1}}));
    EXPECT_FALSE(tags::are_apart(std::array{TagRange{10, 4}, TagRange{13, 1}}));
    EXPECT_FALSE(tags::are_apart(std::array{TagRange{13, 1}, TagRange{10, 4}}));
    EXPECT_FALSE(tags::are_apart(std::array{TagRange{11, 2}, TagRange{10, 4}}));
}

TEST(Tags, a_range_holds_tags_that_every_mpi_has) {
    EXPECT_TRUE(tags::are_apart(std::array{TagRange{tags::k_largest, 1}}));
    EXPECT_FALSE(tags::are_apart(std::array{TagRange{tags::k_largest, 2}}));
    EXPECT_FALSE(tags::are_apart(std::array{TagRange{-1, 1}}));
    EXPECT_FALSE(tags::are_apart(std::array{TagRange{1, 0}}));
}

}  // namespace
}  // namespace sluice::groups
