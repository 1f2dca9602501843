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

TEST(RegistrationTable, a_real_run_shows_the_median) {
    Row row = scheme("bt", "sluice", 4);
    row["seconds"] = {{"min", 1.0}, {"median", 1.25}, {"max", 3.0}};
    EXPECT_NE(registration_table({row}).find("1.2500"), std::string::npos);
}

}  // namespace

}  // namespace sluice::cli
