// SPDX-License-Identifier: BSD-3-Clause
#include "cli/bench/overlap/rows.hpp"

#include <gtest/gtest.h>

#include "cli/bench/overlap/table.hpp"

namespace sluice::cli {
namespace {

OverlapPlace const k_wire{"openmpi", "cluster", 1000};

/// Transfer 4, compute 5, so 4 of 9 can be hidden; by hand all but 0.5 of it, under Sluice all but 1.
OverlapLines independent_lines() {
    OverlapLines lines;
    for (char const* const line : {"round independent 1048576 blocking 9", "round independent 1048576 irecv 9",
                                   "round independent 1048576 by_hand 5.5", "round independent 1048576 program 6",
                                   "round independent 1048576 compute 5", "round independent 1048576 transfer 4"})
        for (int round = 0; round < 3; ++round)
            lines.take(line);
    return lines;
}

/// Returns null if there is no such row.
Row ratio(std::vector<Row> const& rows, std::string const& name) {
    for (Row const& row : rows)
        if (row.contains("ratio") && row.at("ratio") == name) return row;
    return nullptr;
}

TEST(OverlapRows, hidden_is_the_share_of_what_can_be_hidden) {
    std::vector<Row> const rows = cell_rows(k_wire, "on", independent_lines(), {});
    Row const ours = ratio(rows, "sluice/blocking");
    ASSERT_FALSE(ours.is_null());
    EXPECT_EQ(ours.at("overlap"), "on");
    EXPECT_EQ(ours.at("rate_mbit"), 1000);
    EXPECT_EQ(ours.at("bytes"), 1048576);
    EXPECT_EQ(ours.at("pairs"), 3);
    EXPECT_DOUBLE_EQ(ours.at("time").at("median").get<double>(), 6.0 / 9);
    EXPECT_DOUBLE_EQ(ours.at("hideable").get<double>(), 4.0 / 9);
    EXPECT_DOUBLE_EQ(ours.at("hidden").get<double>(), 0.75);
    EXPECT_DOUBLE_EQ(ratio(rows, "irecv/blocking").at("hidden").get<double>(), 0);
    EXPECT_DOUBLE_EQ(ratio(rows, "sluice/by_hand").at("hidden_of_by_hand").get<double>(), 0.75 / 0.875);
    EXPECT_TRUE(ratio(rows, "blocking/blocking_plain").is_null()) << "there was no plain launch";
}

TEST(OverlapRows, what_the_presence_of_sluice_does_to_other_methods_is_a_row) {
    OverlapLines plain;
    plain.take("round independent 1048576 blocking 8");
    Row const row = ratio(cell_rows(k_wire, "on", independent_lines(), plain), "blocking/blocking_plain");
    ASSERT_FALSE(row.is_null());
    EXPECT_DOUBLE_EQ(row.at("time").at("median").get<double>(), 9.0 / 8);
}

TEST(OverlapRows, no_share_is_told_of_next_to_nothing) {
    OverlapLines lines;
    for (char const* const line : {"round light 65536 blocking 1.01", "round light 65536 program 1.02",
                                   "round light 65536 compute 0.01", "round light 65536 transfer 1"})
        lines.take(line);
    Row const row = ratio(cell_rows(k_wire, "auto", lines, {}), "sluice/blocking");
    ASSERT_FALSE(row.is_null());
    EXPECT_FALSE(row.contains("hidden"));
    EXPECT_NEAR(row.at("hideable").get<double>(), 0.01, 0.001);
}

TEST(OverlapRows, a_slow_blocking_round_does_not_make_up_something_to_hide) {
    OverlapLines lines;
    for (char const* const line : {"round light 65536 blocking 2", "round light 65536 program 1.02",
                                   "round light 65536 compute 0.01", "round light 65536 transfer 1"})
        lines.take(line);
    EXPECT_FALSE(ratio(cell_rows(k_wire, "auto", lines, {}), "sluice/blocking").contains("hidden"));
}

TEST(OverlapRows, a_launch_that_ended_early_has_the_rounds_that_are_whole) {
    OverlapLines lines = independent_lines();
    lines.take("round independent 1048576 blocking 100");
    lines.take("round heavy 65536 blocking 1");
    std::vector<Row> const rows = cell_rows(k_wire, "on", lines, {});
    EXPECT_EQ(ratio(rows, "sluice/blocking").at("pairs"), 3);
    for (Row const& row : rows)
        if (row.contains("method") && row.at("case") == "independent") {
            EXPECT_EQ(row.at("rounds"), 3) << row;
        }
}

TEST(OverlapRows, wake_ups_are_those_of_the_threads_that_the_program_does_not_have_itself) {
    OverlapLines lines;
    lines.take("idle 0 1.0 7 sluice-bench-ov");
    lines.take("idle 0 1.0 3 sluice-helper");
    lines.take("idle 1 1.0 4 sluice-helper");
    std::vector<Row> const rows = idle_rows(k_wire, "on", lines);
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_EQ(rows.front().at("wake_ups"), Row({{"sluice-helper", 7}}));
}

TEST(OverlapTable, shows_each_size_under_each_word) {
    std::vector<Row> rows;
    for (char const* const word : {"on", "auto"})
        for (Row const& row : cell_rows(k_wire, word, independent_lines(), {}))
            rows.push_back(row);
    OverlapLines latency;
    latency.take("latency 1.5e-6 1e-6");
    for (Row const& row : latency_rows(k_wire, "auto", latency))
        rows.push_back(row);
    std::string const table = overlap_table(rows);
    EXPECT_NE(table.find("independent · openmpi · bed cluster, 1000 Mbit/s"), std::string::npos) << table;
    EXPECT_NE(table.find("1048576 on "), std::string::npos) << table;
    EXPECT_NE(table.find("1048576 auto "), std::string::npos) << table;
    EXPECT_NE(table.find("0.667 (0.667 … 0.667)"), std::string::npos) << table;
    EXPECT_NE(table.find("added +500 ns"), std::string::npos) << table;
}

}  // namespace
}  // namespace sluice::cli
