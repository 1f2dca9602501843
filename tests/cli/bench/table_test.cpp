// SPDX-License-Identifier: BSD-3-Clause
#include "cli/bench/table.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

#include "cli/bench/alltoall/table.hpp"

namespace sluice::cli {
namespace {

Row cell() {
    return Row{{"bench", "redistribute"}, {"case", "random"}, {"ranks", 4},    {"block_bytes", 16000},
               {"blocks", 5000},          {"mpi", "openmpi"}, {"bed", "local"}};
}

Row method(char const* name, double seconds) {
    Row row = cell();
    row["method"] = name;
    row["seconds"] = {{"min", seconds / 2}, {"median", seconds}, {"max", seconds * 2}};
    row["extra_counted"] = 1 << 20;
    row["extra_resident"] = 2 << 20;
    row["bytes_per_rank"] = 80000000;
    row["outcome"] = "ok";
    return row;
}

TEST(BenchTable, puts_our_ratio_beside_the_method_it_belongs_to) {
    Row ratio = cell();
    ratio["ratio"] = "token/alltoallv_warm";
    ratio["time"] = {{"min", 0.4}, {"median", 0.5}, {"max", 0.6}};
    std::string const table = redistribute_table({method("token", 0.05), method("alltoallv_warm", 0.1), ratio});
    EXPECT_NE(table.find("random · 4 ranks · 5000 blocks of 16000 bytes a rank · openmpi · bed local"),
              std::string::npos);
    std::string const line = table.substr(table.find("alltoallv_warm"));
    EXPECT_NE(line.find("100.0"), std::string::npos) << line;
    EXPECT_NE(line.find("800"), std::string::npos) << line;
    EXPECT_NE(line.find("1.00 / 2.00"), std::string::npos) << line;
    EXPECT_NE(line.find("0.500 (0.400 … 0.600)"), std::string::npos) << line;
}

TEST(BenchTable, compares_ours_with_the_better_of_the_hand_written_exchanges) {
    std::vector<Row> rows{method("token", 0.05), method("alltoallv_warm", 0.1), method("alltoallv_lean", 0.09)};
    for (char const* const ours : {"token", "auto"}) {
        rows.push_back(cell());
        rows.back()["ratio"] = std::string(ours) + "/alltoallv_best";
        rows.back()["best"] = "alltoallv_lean";
        rows.back()["time"] = {{"min", 0.45}, {"median", 0.55}, {"max", 0.65}};
    }
    std::string const table = redistribute_table(rows);
    EXPECT_NE(
        table.find("over the better of warm and lean (alltoallv_lean): token 0.550 (0.450 … 0.650), auto 0.550 ("),
        std::string::npos)
        << table;
}

TEST(BenchTable, keeps_methods_that_did_not_make_it) {
    Row late = cell();
    late["method"] = "parking";
    late["outcome"] = "timeout";
    Row unable = cell();
    unable["method"] = "p4est_transfer";
    unable["outcome"] = "refused";
    unable["why"] = "no order";
    std::string const table = redistribute_table({method("token", 0.05), late, unable});
    EXPECT_NE(table.find("parking          timeout"), std::string::npos) << table;
    EXPECT_NE(table.find("refused: no order"), std::string::npos) << table;
}

TEST(BenchTable, of_inplace_puts_both_and_their_ratio_on_one_line) {
    auto const row = [](std::uint64_t bytes) {
        return Row{{"bench", "inplace"}, {"case", "alltoallv"}, {"ranks", 2},
                   {"bytes", bytes},     {"mpi", "mpich"},      {"bed", "local"}};
    };
    std::vector<Row> rows;
    for (std::uint64_t const bytes : {1024U, 1048576U}) {
        for (double const seconds : {2e-6, 4e-6}) {
            rows.push_back(row(bytes));
            rows.back()["method"] = seconds < 3e-6 ? "sluice" : "mpi";
            rows.back()["seconds"] = {{"min", seconds}, {"median", seconds}, {"max", seconds}};
            rows.back()["extra_bytes"] = seconds < 3e-6 ? 262144 : bytes;
        }
        rows.push_back(row(bytes));
        rows.back()["ratio"] = "sluice/mpi";
        rows.back()["time"] = {{"min", 0.4}, {"median", 0.5}, {"max", 0.6}};
    }
    std::string const table = inplace_table(rows);
    EXPECT_NE(table.find("alltoallv in place · 2 ranks · mpich · bed local"), std::string::npos) << table;
    std::string const line = table.substr(table.find("1048576"));
    EXPECT_NE(line.find("2.0"), std::string::npos) << line;
    EXPECT_NE(line.find("4.0"), std::string::npos) << line;
    EXPECT_NE(line.find("0.500 (0.400 … 0.600)"), std::string::npos) << line;
    EXPECT_NE(line.find("256 / 1024"), std::string::npos) << line;
}

TEST(BenchTable, of_alltoall_puts_all_ways_and_the_choice_on_one_line) {
    Row const common{{"bench", "alltoall"}, {"case", "alltoallv"}, {"ranks", 4},    {"bytes", 4096},
                     {"buffers", "cold"},   {"mpi", "openmpi"},    {"bed", "local"}};
    std::vector<Row> rows;
    for (auto const& [method, seconds] :
         {std::pair("mpi", 5e-6), std::pair("window", 6e-6), std::pair("auto", 7e-6), std::pair("plan", 5.1e-6)}) {
        rows.push_back(common);
        rows.back()["method"] = method;
        rows.back()["algorithm"] = "plain";
        rows.back()["seconds"] = {{"min", seconds}, {"median", seconds}, {"max", seconds}};
        rows.back()["extra_bytes"] = 20480;
    }
    for (char const* const ratio : {"plan/mpi", "plan/best", "auto/mpi"}) {
        bool const one_call = std::string_view(ratio) == "auto/mpi";
        rows.push_back(common);
        rows.back()["ratio"] = ratio;
        rows.back()["time"] = {{"min", 0.9}, {"median", one_call ? 1.4 : 1.02}, {"max", one_call ? 1.5 : 1.1}};
    }
    std::string const table = alltoall_table(rows);
    EXPECT_NE(table.find("alltoallv · 4 ranks · openmpi · bed local"), std::string::npos) << table;
    std::string const line = table.substr(table.find("cold"));
    for (char const* const part : {"4096", " 5.0 ", " 6.0 ", " 5.1 ", "–", "plain", "1.020 (0.900 … 1.100)", "20 / 20"})
        EXPECT_NE(line.find(part), std::string::npos) << part << " in " << line;
    // A plan chooses with more knowledge than one call, which stands beside it.
    std::string const behind = line.substr(line.find("1.020"));
    EXPECT_NE(behind.find(" 7.0 "), std::string::npos) << line;
    EXPECT_NE(behind.find("1.400 (0.900 … 1.500)"), std::string::npos) << line;
}

TEST(BenchTable, of_nothing_is_empty) {
    EXPECT_EQ(alltoall_table({}), "");
    EXPECT_EQ(redistribute_table({}), "");
    EXPECT_EQ(inplace_table({}), "");
}

}  // namespace
}  // namespace sluice::cli
