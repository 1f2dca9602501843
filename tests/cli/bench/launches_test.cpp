// SPDX-License-Identifier: BSD-3-Clause
#include "cli/bench/launches.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sluice::cli {
namespace {

std::vector<Row> launch(double ratio, double processor_seconds) {
    Row const cell{{"bench", "redistribute"}, {"case", "random"}, {"ranks", 4},    {"block_bytes", 16000},
                   {"blocks", 5000},          {"mpi", "openmpi"}, {"bed", "local"}};
    Row token = cell;
    token["method"] = "token";
    token["processor_seconds"] = {{"min", 0.0}, {"median", processor_seconds}, {"max", 1.0}};
    token["outcome"] = "ok";
    Row to_best = cell;
    to_best["ratio"] = "token/alltoallv_best";
    to_best["best"] = "alltoallv_lean";
    to_best["time"] = {{"min", 0.1}, {"median", ratio}, {"max", 3.0}};
    return {token, to_best};
}

TEST(Launches, show_the_slow_one_among_them) {
    Launches launches;
    for (auto const& [ratio, processor] : {std::pair(0.4, 0.02), std::pair(1.0, 0.03), std::pair(0.5, 0.02)})
        EXPECT_TRUE(launches.add(launch(ratio, processor)));
    std::vector<Row> const rows = launches.rows();
    ASSERT_EQ(rows.size(), 4U);
    EXPECT_EQ(rows[1].at("launch"), 2);
    EXPECT_DOUBLE_EQ(rows[1].at("time").get<double>(), 1.0);
    EXPECT_DOUBLE_EQ(rows[1].at("processor").get<double>(), 1.5);
    EXPECT_EQ(rows[3].at("launches"), 3);
    EXPECT_DOUBLE_EQ(rows[3].at("greatest").at("time").get<double>(), 2.0);
    EXPECT_DOUBLE_EQ(rows[3].at("greatest").at("processor").get<double>(), 1.5);
    std::string const table = launches.table();
    EXPECT_NE(table.find("random · 4 ranks · 5000 blocks of 16000 bytes a rank · openmpi · bed local"),
              std::string::npos)
        << table;
    EXPECT_NE(table.find("time 2.000, processor time 1.500"), std::string::npos) << table;
}

TEST(Launches, have_the_mean_of_the_middle_two_as_the_median_of_an_even_number) {
    Launches launches;
    launches.add(launch(0.4, 0.02));
    launches.add(launch(0.6, 0.06));
    EXPECT_DOUBLE_EQ(launches.rows().back().at("median").at("time").get<double>(), 0.5);
    EXPECT_DOUBLE_EQ(launches.rows().back().at("median").at("processor_seconds").get<double>(), 0.04);
}

TEST(Launches, refuse_one_without_the_peers) {
    Launches launches;
    EXPECT_FALSE(launches.add({launch(0.4, 0.02).front()}));
    EXPECT_FALSE(launches.add({launch(0.4, 0.02).back()}));
    EXPECT_TRUE(launches.rows().empty());
    EXPECT_EQ(launches.table(), "");
}

}  // namespace
}  // namespace sluice::cli
