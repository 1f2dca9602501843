// SPDX-License-Identifier: BSD-3-Clause
// `sluice memory` from end to end, compared with a known amount: ballast that the probe itself allocates.
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "cli/support/launch.hpp"

namespace sluice::cli {
namespace {

using Row = nlohmann::json;

std::vector<Row> rows_of(std::vector<std::string> const& arguments) {
    char const* const program = std::getenv("SLUICE_TEST_COMMAND");
    if (program == nullptr) throw std::runtime_error("SLUICE_TEST_COMMAND does not say where the command is");
    std::vector<std::string> command{program, "memory", "--json"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    std::vector<Row> rows;
    Ended const ended =
        launch(command, {}, 100, [&rows](std::string const& line) { rows.push_back(Row::parse(line)); });
    EXPECT_EQ(ended.code, 0) << ended.complaints;
    return rows;
}

double median(std::vector<Row> const& rows, std::string const& name, int ranks, char const* quantity) {
    for (Row const& row : rows)
        if (row.at("memory") == "measured" && row.at("case") == name && row.at("ranks") == ranks)
            return row.at(quantity).at("median").get<double>();
    throw std::runtime_error("no row for " + name);
}

class MemoryCommand : public testing::TestWithParam<std::string> {};

TEST_P(MemoryCommand, finds_ballast_again_and_all_that_it_promises) {
    std::vector<Row> const rows = rows_of({"--mpi", GetParam(), "--ranks", "2,3", "--runs", "1", "--ballast-mib", "32",
                                           "--communicators", "20", "--windows", "4"});
    constexpr double ballast = 32 << 20;
    for (int const ranks : {2, 3}) {
        EXPECT_NEAR(median(rows, "ballast", ranks, "private_rank"), ballast, 0.05 * ballast);
        EXPECT_NEAR(median(rows, "ballast", ranks, "private_worst"), ballast, 0.05 * ballast);
        EXPECT_NEAR(median(rows, "ballast", ranks, "heap_rank"), ballast, 0.05 * ballast);
        EXPECT_LT(median(rows, "ballast", ranks, "shared_node"), 0.01 * ballast);
        double const init = median(rows, "no communication", ranks, "private_rank");
        EXPECT_GT(init, 100e3) << "an MPI of less than 100 kB?";
        EXPECT_LT(init, 200e6);
        // Memory that was taken stays taken, and traffic only adds to it. The tolerance is one page, for memory that an
        // MPI gives back.
        EXPECT_GE(median(rows, "everybody to everybody", ranks, "private_rank"), init - 4096);
        double const communicator = median(rows, "communicator", ranks, "heap_rank");
        EXPECT_GT(communicator, 100);
        EXPECT_LT(communicator, 1e6);
        double const window = median(rows, "window, allocate_shared", ranks, "shared_node");
        EXPECT_LT(window, 65536) << "the user's own bytes were counted as the MPI's";
    }
}

TEST_P(MemoryCommand, predicts_within_a_band_where_it_has_measured) {
    std::vector<Row> const rows = rows_of({"--mpi", GetParam(), "--ranks", "1,2,3", "--runs", "1", "--communicators",
                                           "0", "--windows", "0", "--predict", "3"});
    int predictions = 0;
    for (Row const& row : rows) {
        if (row.at("memory") != "prediction") continue;
        ++predictions;
        double const value = row.at("rank_bytes").at("value").get<double>();
        EXPECT_LE(row.at("rank_bytes").at("low").get<double>(), value);
        EXPECT_GE(row.at("rank_bytes").at("high").get<double>(), value);
        EXPECT_EQ(row.at("per_node"), 3);
        std::string const name = row.at("case");
        double const measured = median(rows, name, 3, "private_rank") +
                                (median(rows, name, 3, "shared_node") + median(rows, name, 3, "files_node")) / 3;
        EXPECT_LE(row.at("rank_bytes").at("low").get<double>(), measured) << name;
        EXPECT_GE(row.at("rank_bytes").at("high").get<double>(), measured) << name;
    }
    EXPECT_EQ(predictions, 3);
}

TEST_P(MemoryCommand, measures_peers_over_a_network_apart) {
    std::vector<std::string> arguments{"--mpi",           GetParam(), "--ranks",   "2,3", "--runs", "1",
                                       "--communicators", "0",        "--windows", "0",   "--peers"};
    arguments.emplace_back("network");
    std::vector<Row> const network = rows_of(arguments);
    arguments.back() = "node";
    std::vector<Row> const node = rows_of(arguments);
    for (int const ranks : {2, 3}) {
        auto const talk = [&](std::vector<Row> const& rows) {
            return median(rows, "everybody to everybody", ranks, "private_rank") -
                   median(rows, "no communication", ranks, "private_rank");
        };
        EXPECT_GT(talk(network), talk(node)) << "a connection takes no memory?";
        EXPECT_LT(median(network, "no communication", ranks, "shared_node"),
                  median(node, "no communication", ranks, "shared_node"))
            << "shared memory was used after all";
    }
    EXPECT_EQ(network.front().at("peers"), "network");
    EXPECT_EQ(node.front().at("peers"), "node");
}

INSTANTIATE_TEST_SUITE_P(Mpi, MemoryCommand, testing::Values("openmpi", "mpich"),
                         [](auto const& mpi) { return mpi.param; });

}  // namespace
}  // namespace sluice::cli
