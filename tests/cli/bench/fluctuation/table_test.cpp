// SPDX-License-Identifier: BSD-3-Clause
#include "cli/bench/fluctuation/table.hpp"

#include <gtest/gtest.h>

namespace sluice::cli {
namespace {

Row spread(double min, double median, double max) {
    return {{"min", min}, {"median", median}, {"max", max}};
}

Row row_of(std::string const& method, std::string const& settings) {
    Row row{{"bench", "fluctuation"}, {"case", "jacobi13"}, {"ranks", 2}, {"mpi", "openmpi"},
            {"bed", "limited"},       {"base_mib", 80.0},   {"edge", 32}, {"deal", "checkerboard"}};
    row["method"] = method;
    if (!settings.empty()) row["settings"] = settings;
    return row;
}

Row measured(std::string const& method, std::string const& settings) {
    Row row = row_of(method, settings);
    row["seconds"] = spread(0.02, 0.025, 0.03);
    row["extra_counted"] = 200 * 1024;
    row["extra_resident"] = 300 * 1024;
    row["major_faults"] = 1.5;
    row["updates_per_second_per_rank"] = 1.25e8;
    row["outcome"] = "ok";
    return row;
}

TEST(BenchFluctuationTable, names_tokens_and_settings) {
    Row eight = row_of("fetch", "tokens=8");
    eight["tokens"] = 8;
    EXPECT_EQ(fluctuation_method(eight), "fetch, 8 tokens");
    EXPECT_EQ(fluctuation_method(row_of("fetch", "")), "fetch");
    EXPECT_EQ(fluctuation_method(row_of("fetch", "tokens=1000000")), "fetch, tokens for all");
    EXPECT_EQ(fluctuation_method(row_of("send", "send_control=off")), "send, uncontrolled");
    EXPECT_EQ(fluctuation_method(row_of("fetch", "fetch_order=spread")), "fetch, fetch_order=spread");
}

TEST(BenchFluctuationTable, shows_each_method_beside_its_own_ratio) {
    Row ratio = row_of("fetch", "tokens=8");
    ratio.erase("method");
    ratio["ratio"] = "fetch/at_once";
    ratio["time"] = spread(0.7, 0.75, 0.8);
    std::string const lines = fluctuation_lines({measured("fetch", ""), measured("fetch", "tokens=8"), ratio});
    std::string const first = lines.substr(0, lines.find('\n'));
    std::string const second = lines.substr(lines.find('\n') + 1);
    EXPECT_EQ(first.find("0.750"), std::string::npos) << lines;
    EXPECT_NE(second.find("0.750 (0.700 … 0.800)"), std::string::npos) << lines;
    EXPECT_NE(second.find("25.0 (20.0 … 30.0)"), std::string::npos) << lines;
    EXPECT_NE(second.find("200 / 300"), std::string::npos) << lines;
}

TEST(BenchFluctuationTable, says_how_far_a_killed_run_came) {
    Row dead = row_of("at_once", "");
    dead["outcome"] = "killed";
    dead["steps_done"] = 3;
    dead["node_peak_bytes"] = 192.0 * (1 << 20);
    std::string const line = fluctuation_lines({dead});
    EXPECT_NE(line.find("killed after 3 steps"), std::string::npos) << line;
    EXPECT_NE(line.find("192.0"), std::string::npos) << line;
}

}  // namespace
}  // namespace sluice::cli
