// SPDX-License-Identifier: BSD-3-Clause
#include "cli/doctor/calibrate.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sluice::cli {
namespace {

using kernel::Calibration;

/// Rows as the benchmark prints them: 1000 blocks on a rank, of which 500 change their rank.
std::vector<Row> rows_of(double token, double warm, double lean) {
    std::vector<Row> rows;
    for (std::uint64_t const bytes : Calibration::k_sizes)
        for (auto const& [method, seconds] :
             {std::pair("token", token), std::pair("alltoallv_warm", warm), std::pair("alltoallv_lean", lean)})
            rows.push_back(Row{{"method", method},
                               {"block_bytes", bytes},
                               {"blocks", 1000},
                               {"seconds", {{"min", 0.0}, {"median", seconds}, {"max", 9.0}}},
                               {"bytes_moved", 500 * bytes},
                               {"outcome", "ok"}});
    return rows;
}

TEST(Calibrate, divides_by_the_blocks_that_each_form_moves) {
    auto const costs = costs_of(rows_of(0.001, 0.004, 0.003));
    ASSERT_TRUE(costs);
    for (std::size_t i = 0; i < Calibration::k_sizes.size(); ++i) {
        EXPECT_FLOAT_EQ(costs->token[i], 2e-6F);
        EXPECT_FLOAT_EQ(costs->packed[i], 3e-6F);  // of the better peer
    }
}

TEST(Calibrate, takes_nothing_from_rows_that_lack_a_method_or_a_size) {
    std::vector<Row> rows = rows_of(0.001, 0.004, 0.003);
    rows.back()["outcome"] = "timeout";
    EXPECT_FALSE(costs_of(rows));
    rows.pop_back();
    EXPECT_FALSE(costs_of(rows));
    EXPECT_FALSE(costs_of({}));
}

TEST(Calibrate, takes_no_figures_that_cannot_be) {
    EXPECT_FALSE(costs_of(rows_of(0, 0.004, 0.003)));
    EXPECT_FALSE(costs_of(rows_of(1e9, 0.004, 0.003)));
}

}  // namespace
}  // namespace sluice::cli
