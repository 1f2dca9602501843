#include "cli/bench_table.hpp"

#include <gtest/gtest.h>

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

TEST(BenchTable, of_nothing_is_empty) {
    EXPECT_EQ(redistribute_table({}), "");
}

}  // namespace
}  // namespace sluice::cli
