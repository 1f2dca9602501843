// SPDX-License-Identifier: BSD-3-Clause
#include "cli/bench/overhead/memory.hpp"

#include <gtest/gtest.h>

using namespace sluice::cli;

TEST(MemoryRow, is_the_difference_of_medians_for_the_ranks_with_least_and_with_most) {
    PeakLines plain;
    PeakLines watched;
    for (char const* line : {"peak 0 1000", "peak 0 1010", "peak 0 5000", "peak 1 900", "something else"})
        plain.take(line);
    for (char const* line : {"peak 0 2510", "peak 1 2000", "peak 0 2500", "peak 0 9000"})
        watched.take(line);
    OverheadRow const row = memory_row({"openmpi", 2}, true, watched, plain);
    EXPECT_EQ(row.at("plain_kib"), 1010);
    EXPECT_EQ(row.at("added_least_kib"), 1100);
    EXPECT_EQ(row.at("added_most_kib"), 1500);
    EXPECT_EQ(row.at("report"), true);
}
