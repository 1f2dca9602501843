// SPDX-License-Identifier: BSD-3-Clause
#include "support/statistics.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace sluice::bench {
namespace {

TEST(Spread, takes_the_middle_of_an_odd_number) {
    Spread const spread = spread_of(std::vector{5.0, 1.0, 9.0});
    EXPECT_DOUBLE_EQ(spread.min, 1);
    EXPECT_DOUBLE_EQ(spread.median, 5);
    EXPECT_DOUBLE_EQ(spread.max, 9);
}

TEST(Spread, takes_the_mean_of_the_middle_two_of_an_even_number) {
    EXPECT_DOUBLE_EQ(spread_of(std::vector{4.0, 1.0, 2.0, 100.0}).median, 3);
}

TEST(Spread, of_one_sample_is_the_sample) {
    EXPECT_DOUBLE_EQ(spread_of(std::vector{7.0}).median, 7);
}

TEST(Spread, of_nothing_is_an_error) {
    EXPECT_THROW(spread_of({}), std::invalid_argument);
}

TEST(PairwiseRatios, divide_round_by_round_and_not_median_by_median) {
    std::vector<double> const ours{1, 8, 3};
    std::vector<double> const theirs{2, 4, 3};
    EXPECT_EQ(pairwise_ratios(ours, theirs), (std::vector{0.5, 2.0, 1.0}));
    EXPECT_THROW(pairwise_ratios(ours, std::vector{1.0}), std::invalid_argument);
}

}  // namespace
}  // namespace sluice::bench
