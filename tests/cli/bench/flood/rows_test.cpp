// SPDX-License-Identifier: BSD-3-Clause
#include "cli/bench/flood/rows.hpp"

#include <gtest/gtest.h>

namespace sluice::cli {
namespace {

FloodPlace const k_place{"openmpi", "tcp", "many_to_one", 1024, 4};

TEST(FloodRows, read_the_line_of_the_program_and_no_other) {
    auto const sample = flood_sample("flood many_to_one 1024 8193 0.125 4096");
    ASSERT_TRUE(sample);
    EXPECT_EQ(sample->messages, 8193u);
    EXPECT_DOUBLE_EQ(sample->seconds, 0.125);
    EXPECT_EQ(sample->grown, 4096u);
    EXPECT_FALSE(flood_sample("flood many_to_one 1024 8193 0.125"));
    EXPECT_FALSE(flood_sample("a line of the launcher with 1 2 3 4 5 6"));
    EXPECT_FALSE(flood_sample(""));
}

TEST(FloodRows, have_the_worst_growth_and_the_ratios_launch_by_launch) {
    FloodSeries const plain{{1.0, 10, 1 << 20}, {2.0, 10, 3 << 20}, {4.0, 10, 2 << 20}};
    FloodSeries const controlled{{2.0, 10, 100}, {2.0, 10, 300}, {2.0, 10, 200}};
    std::vector<Row> const rows = flood_rows(k_place, plain, controlled);
    ASSERT_EQ(rows.size(), 3u);
    EXPECT_EQ(rows[0].at("method"), "mpi");
    EXPECT_EQ(rows[0].at("extra_bytes"), 3u << 20);
    EXPECT_EQ(rows[0].at("seconds").at("median"), 2.0);
    EXPECT_EQ(rows[1].at("method"), "sluice");
    EXPECT_EQ(rows[1].at("extra_bytes"), 300u);
    EXPECT_EQ(rows[2].at("ratio"), "sluice/mpi");
    EXPECT_EQ(rows[2].at("time").at("min"), 0.5);
    EXPECT_EQ(rows[2].at("time").at("median"), 1.0);
    EXPECT_EQ(rows[2].at("time").at("max"), 2.0);
    for (Row const& row : rows) {
        EXPECT_EQ(row.at("bench"), "flood");
        EXPECT_EQ(row.at("bytes"), 1024u);
        EXPECT_EQ(row.at("bed"), "tcp");
    }
}

TEST(FloodRows, are_a_line_below_the_head) {
    FloodSeries const series{{0.25, 10, 1 << 20}};
    std::string const line = flood_line(flood_rows(k_place, series, series));
    EXPECT_NE(line.find("250.0 ms"), std::string::npos) << line;
    EXPECT_NE(line.find("1.00"), std::string::npos) << line;
    EXPECT_EQ(flood_head().find("MPI"), 0u);
}

TEST(FloodRows, of_idle_sends_say_what_a_send_costs_more) {
    FloodPlace const idle{"mpich", "local", "idle", 8, 2};
    std::string const line = flood_line(flood_rows(idle, {{1.0, 1000, 0}}, {{1.5, 1000, 0}}));
    EXPECT_NE(line.find("+500.000 µs a send"), std::string::npos) << line;
}

TEST(FloodRows, of_a_long_flood_have_no_plain_figures) {
    std::string const line = flood_line({flood_row(k_place, {{10.0, 5000, 1 << 19}})});
    EXPECT_NE(line.find("10000.0 ms"), std::string::npos) << line;
    EXPECT_NE(line.find("0.50  5000 messages"), std::string::npos) << line;
}

}  // namespace
}  // namespace sluice::cli
