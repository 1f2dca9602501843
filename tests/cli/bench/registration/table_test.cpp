// SPDX-License-Identifier: BSD-3-Clause
#include "cli/bench/registration/table.hpp"

#include <gtest/gtest.h>

namespace sluice::cli {

namespace {

Row scheme(char const* shape, char const* method, double mib) {
    Row row{{"bench", "registration"}, {"case", shape}, {"ranks", 1}, {"registrar", "counting"}, {"method", method}};
    row["seconds"] = 2.5;
    row["peak_pinned"] = mib * 1024 * 1024;
    row["average_pinned"] = mib * 512 * 1024;
    row["messages"] = 40;
    row["main_registrations"] = 3;
    return row;
}

TEST(RegistrationTable, has_a_block_for_each_shape_with_peaks_as_ratios) {
    Row ours = scheme("bt", "sluice", 4);
    ours["within_five_percent"] = 0.995;
    Row ratio{{"case", "bt"}, {"ratio", "sluice/leave_pinned"}, {"time", 1.0002}};
    ratio["peak_pinned"] = 0.5;
    ratio["average_pinned"] = 0.1;
    std::string const table =
        registration_table({{{"case", "bt"}, {"ranks", 1}, {"registrar", "counting"}, {"note", "made from"}},
                            scheme("bt", "optimum", 4),
                            scheme("bt", "leave_pinned", 8),
                            ours,
                            ratio,
                            scheme("lu", "leave_pinned", 2)});
    EXPECT_NE(table.find("bt · 1 ranks · registrar counting\n  made from\n"), std::string::npos) << table;
    EXPECT_NE(
        table.find("  sluice               4.0   0.50   1.00        2.0      2.5000             3/40      –   99.5"),
        std::string::npos)
        << table;
    EXPECT_NE(table.find("sluice/leave_pinned: time 1.0002, peak 0.500, average 0.100"), std::string::npos) << table;
    EXPECT_NE(table.find("\nlu · "), std::string::npos) << table;
}

TEST(RegistrationTable, says_why_a_shape_was_left_out) {
    Row const row{
        {"case", "bt"}, {"ranks", 1}, {"registrar", "io_uring"}, {"outcome", "left out"}, {"why", "no io_uring"}};
    EXPECT_NE(registration_table({row}).find("  left out: no io_uring\n"), std::string::npos);
    EXPECT_TRUE(registration_table({}).empty());
}

TEST(RegistrationTable, names_the_targets_that_were_missed_and_the_savings_of_the_paper) {
    Row saved{{"case", "ft"}, {"target", "saving of the peak, percent, paper's"}, {"value", 33.3}, {"least", 31.0}};
    saved["optimum"] = 33.5;
    saved["met"] = true;
    Row slow{{"case", "bt"}, {"target", "time, of leave pinned"}, {"value", 1.2}, {"most", 1.01}, {"met", false}};
    std::string const table = registration_table({saved, slow});
    EXPECT_NE(table.find("  met     saving of the peak, percent, paper's: 33.300, at least 31.000 (optimum 33.500)\n"),
              std::string::npos)
        << table;
    EXPECT_NE(table.find("  ft                 31.0     33.3     33.5\n"), std::string::npos) << table;
    EXPECT_NE(table.find("targets met: 1\ntargets missed:\n  bt: time, of leave pinned: 1.200, at most 1.010\n"),
              std::string::npos)
        << table;
}

TEST(RegistrationTable, has_a_line_for_what_a_message_costs_the_main_thread) {
    Row row{
        {"case", "main_thread"}, {"ranks", 1}, {"registrar", "counting"}, {"method", "with_frames"}, {"buffers", 64}};
    row["nanoseconds"] = {{"min", 120.2}, {"median", 140.4}, {"max", 3000.0}};
    EXPECT_NE(registration_table({row}).find("with_frames        64 buffers: 120 ns a message at least, median 140\n"),
              std::string::npos)
        << registration_table({row});
}

TEST(RegistrationTable, a_real_run_shows_the_median) {
    Row row = scheme("bt", "sluice", 4);
    row["seconds"] = {{"min", 1.0}, {"median", 1.25}, {"max", 3.0}};
    EXPECT_NE(registration_table({row}).find("1.2500"), std::string::npos);
}

}  // namespace

}  // namespace sluice::cli
