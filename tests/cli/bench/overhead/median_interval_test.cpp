// SPDX-License-Identifier: BSD-3-Clause
#include "cli/bench/overhead/median_interval.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

using sluice::cli::median_interval;
using sluice::cli::MedianInterval;

namespace {

std::vector<double> numbers(int n) {
    std::vector<double> values(static_cast<std::size_t>(n));
    std::iota(values.rbegin(), values.rend(), 1.0);
    return values;
}

}  // namespace

TEST(MedianInterval, is_that_of_the_tables_of_order_statistics) {
    // Ranks of a 95 % interval for the median, as printed in textbooks.
    struct {
        int n, low, high;
    } const known[] = {{6, 1, 6},   {8, 1, 8},   {9, 2, 8},    {10, 2, 9},
                       {20, 6, 15}, {25, 8, 18}, {50, 18, 33}, {100, 40, 61}};
    for (auto const& row : known) {
        MedianInterval const found = median_interval(numbers(row.n));
        EXPECT_EQ(found.low, row.low) << row.n;
        EXPECT_EQ(found.high, row.high) << row.n;
        EXPECT_EQ(found.median, (row.n + 1) / 2.0) << row.n;
        EXPECT_EQ(found.min, 1);
        EXPECT_EQ(found.max, row.n);
    }
}

TEST(MedianInterval, of_too_few_is_all_of_them) {
    EXPECT_EQ(median_interval({}).median, 0);
    for (int n = 1; n < 6; ++n) {
        EXPECT_EQ(median_interval(numbers(n)).low, 1) << n;
        EXPECT_EQ(median_interval(numbers(n)).high, n) << n;
    }
}

TEST(MedianInterval, holds_the_true_median_as_often_as_it_says) {
    std::mt19937 random(7);
    std::lognormal_distribution<double> skewed(0.0, 1.5);  // its median is 1
    int held = 0;
    for (int trial = 0; trial < 2000; ++trial) {
        std::vector<double> values(61);
        for (double& value : values)
            value = skewed(random);
        MedianInterval const found = median_interval(values);
        held += found.low <= 1 && 1 <= found.high ? 1 : 0;
    }
    EXPECT_GE(held, 1880);
    EXPECT_LE(held, 1980);
}

TEST(MedianInterval, of_ten_thousand_does_not_underflow) {
    MedianInterval const found = median_interval(numbers(10000));
    EXPECT_NEAR(found.low, 4902, 1);
    EXPECT_NEAR(found.high, 5099, 1);
}
