// SPDX-License-Identifier: BSD-3-Clause
#include "cli/bench/overhead/rows.hpp"

#include <gtest/gtest.h>

using namespace sluice::cli;

namespace {

OverheadLines lines(std::initializer_list<char const*> of) {
    OverheadLines taken;
    for (char const* line : of)
        taken.take(line);
    return taken;
}

}  // namespace

TEST(OverheadLines, gather_the_cells_of_all_launches_in_order) {
    OverheadLines const taken =
        lines({"between yes", "pair pingpong 8 0.3e-6 0.2e-6", "pair pingpong 8 0.6e-6 0.4e-6",
               "helper pingpong 8 0.001 2", "pair halo 16384 5e-6 4e-6", "calls MPI_Send 10 20", "something else",
               "between yes", "pair pingpong 8 0.5e-6 0.4e-6", "helper pingpong 8 0.002 1", "launch halo 16384 7e-6"});
    ASSERT_EQ(taken.cells().size(), 2U);
    EXPECT_TRUE(taken.between());
    EXPECT_EQ(taken.cells()[0].name, "pingpong");
    EXPECT_EQ(taken.cells()[0].blocks.size(), 3U);
    EXPECT_DOUBLE_EQ(taken.cells()[0].helper_seconds, 0.003);
    EXPECT_DOUBLE_EQ(taken.cells()[0].of_seconds, 3);
    EXPECT_EQ(taken.find("halo", 16384)->launches, std::vector<double>{7e-6});
    EXPECT_EQ(taken.find("halo", 8), nullptr);
}

TEST(OverheadLines, are_watched_only_where_every_launch_was) {
    EXPECT_FALSE(lines({"between yes", "between no"}).between());
    EXPECT_FALSE(lines({"between no", "between yes"}).between());
    EXPECT_FALSE(lines({}).between());
}

TEST(OverheadRows, add_the_helper_to_the_median_of_ratios_and_stand_beside_the_control) {
    OverheadLines const watched = lines({"between yes", "pair halo 16384 1.1e-6 1e-6", "pair halo 16384 1.3e-6 1e-6",
                                         "pair halo 16384 2.4e-6 2e-6", "helper halo 16384 0.01 2"});
    OverheadLines const plain = lines({"between no", "pair halo 16384 1e-6 1e-6"});
    auto const rows = block_rows({"openmpi", 2}, watched, plain);
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(rows[0].at("ratio"), "watched/direct");
    EXPECT_NEAR(rows[0].at("time").at("median").get<double>(), 1.2, 1e-9);
    EXPECT_NEAR(rows[0].at("confidence").at("low").get<double>(), 1.1, 1e-9);
    EXPECT_NEAR(rows[0].at("seconds_added").get<double>(), 0.3e-6, 1e-12);
    EXPECT_NEAR(rows[0].at("helper").get<double>(), 0.005, 1e-9);
    EXPECT_NEAR(rows[0].at("overhead").at("median").get<double>(), 0.205, 1e-9);
    EXPECT_NEAR(rows[0].at("overhead").at("high").get<double>(), 0.305, 1e-9);
    EXPECT_EQ(rows[1].at("ratio"), "direct/direct");
    std::string const table = block_table({"openmpi", 2}, rows);
    EXPECT_NE(table.find("+20.00 (+10.00 … +30.00)    0.500    20.50  +0.00"), std::string::npos) << table;
    // Without a control launch there is no row to compare with.
    EXPECT_EQ(block_rows({"openmpi", 2}, watched, {}).size(), 1U);
}

TEST(OverheadRows, of_launches_are_ratios_pair_by_pair) {
    OverheadLines const watched = lines({"launch stencil 16384 2e-6", "launch stencil 16384 3e-6"});
    OverheadLines const plain = lines({"launch stencil 16384 1e-6", "launch stencil 16384 3e-6"});
    auto const rows = launch_rows({"mpich", 2}, watched, plain);
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_DOUBLE_EQ(rows[0].at("time").at("median").get<double>(), 1.5);
    EXPECT_EQ(rows[0].at("mpi"), "mpich");
    EXPECT_NE(launch_table({"mpich", 2}, rows).find("stencil"), std::string::npos);
}
