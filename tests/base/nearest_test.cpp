// SPDX-License-Identifier: BSD-3-Clause
#include "base/nearest.hpp"

#include <gtest/gtest.h>

#include <array>

namespace sluice::base {
namespace {

TEST(Nearest, counts_letters_to_insert_delete_and_replace) {
    EXPECT_EQ(edit_distance("", ""), 0u);
    EXPECT_EQ(edit_distance("", "abc"), 3u);
    EXPECT_EQ(edit_distance("abc", ""), 3u);
    EXPECT_EQ(edit_distance("staging", "staging"), 0u);
    EXPECT_EQ(edit_distance("stagin", "staging"), 1u);
    EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
    EXPECT_EQ(edit_distance("sitting", "kitten"), 3u);
}

TEST(Nearest, picks_the_first_of_the_nearest) {
    std::array<std::string_view, 3> const known{"memory", "staging", "strategy"};
    EXPECT_EQ(nearest("stagging", known), "staging");
    EXPECT_EQ(nearest("stratgy", known), "strategy");
    EXPECT_EQ(nearest("", known), "memory");
    EXPECT_EQ(nearest("anything", {}), "");
}

}  // namespace
}  // namespace sluice::base
