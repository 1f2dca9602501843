// SPDX-License-Identifier: BSD-3-Clause
#include "cli/bench/overlap/lines.hpp"

#include <gtest/gtest.h>

namespace sluice::cli {
namespace {

TEST(OverlapLines, rounds_of_a_method_stay_in_their_order) {
    OverlapLines lines;
    lines.take("round light 65536 blocking 0.5");
    lines.take("round light 65536 program 0.25");
    lines.take("round light 65536 blocking 0.75");
    lines.take("round heavy 65536 blocking 4");
    ASSERT_EQ(lines.cells().size(), 2u);
    OverlapRounds const* const cell = lines.find("light", 65536);
    ASSERT_NE(cell, nullptr);
    ASSERT_NE(cell->find("blocking"), nullptr);
    EXPECT_EQ(*cell->find("blocking"), (std::vector<double>{0.5, 0.75}));
    EXPECT_EQ(cell->find("irecv"), nullptr);
    EXPECT_EQ(cell->whole(), 1u) << "the second round of the other method is missing";
    EXPECT_EQ(lines.find("light", 65537), nullptr);
}

TEST(OverlapLines, a_library_is_between_only_if_it_was_in_every_launch) {
    OverlapLines lines;
    EXPECT_FALSE(lines.between());
    lines.take("between yes");
    EXPECT_TRUE(lines.between());
    lines.take("between no");
    EXPECT_FALSE(lines.between());
    lines.take("between yes");
    EXPECT_FALSE(lines.between());
}

TEST(OverlapLines, names_of_threads_may_contain_spaces_and_the_worst_rank_counts_for_delays) {
    OverlapLines lines;
    lines.take("idle 1 1.000 98 a thread");
    lines.take("delayed 0 0.5 10");
    lines.take("delayed 1 1.5 10");
    lines.take("latency 0.25 0.5");
    ASSERT_EQ(lines.wake_ups().size(), 1u);
    EXPECT_EQ(lines.wake_ups().front().thread, "a thread");
    EXPECT_EQ(lines.wake_ups().front().count, 98u);
    EXPECT_EQ(lines.wake_ups().front().rank, 1);
    EXPECT_DOUBLE_EQ(lines.delayed(), 0.15);
    EXPECT_EQ(lines.latency(), (std::vector<std::pair<double, double>>{{0.25, 0.5}}));
}

TEST(OverlapLines, lines_of_others_and_broken_lines_are_no_measurements) {
    OverlapLines lines;
    for (char const* const line : {"", "round", "round light", "round light x blocking 1", "round light 8 blocking",
                                   "idle 0 1.0", "latency 1", "Warning: round light 8 blocking 1"})
        lines.take(line);
    EXPECT_TRUE(lines.cells().empty());
    EXPECT_TRUE(lines.latency().empty());
    EXPECT_TRUE(lines.wake_ups().empty());
}

TEST(OverlapLines, paragraphs_of_the_summary_become_lines) {
    std::string const summary =
        "sluice: time       16 % of all time in MPI, overlap: none of it\n"
        "sluice:            24.7 ms\n"
        "sluice: hidden     23.5 ms of waiting in 9 receives, 59.4 ms left, 1.7 ms for\n"
        "sluice:            moving pages\n"
        "sluice: Sluice     watched; served no call\n"
        "sluice:            overlap: 9 receives that returned early, 2 that\n"
        "sluice:            were too small\n"
        "sluice: advice     Buffers\n"
        "sluice:            in flight\n";
    EXPECT_EQ(
        said_of_overlap(summary),
        (std::vector<std::string>{"hidden     23.5 ms of waiting in 9 receives, 59.4 ms left, 1.7 ms for moving pages",
                                  "overlap: 9 receives that returned early, 2 that were too small"}));
    EXPECT_TRUE(said_of_overlap("").empty());
}

}  // namespace
}  // namespace sluice::cli
