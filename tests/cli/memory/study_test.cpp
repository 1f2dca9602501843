// SPDX-License-Identifier: BSD-3-Clause
#include "cli/memory/study.hpp"

#include <gtest/gtest.h>

#include "cli/memory/probe_launch.hpp"
#include "cli/memory/rows.hpp"

namespace sluice::cli {
namespace {

PhaseMemory phase(int ranks, double anonymous, double shared) {
    auto const all = static_cast<std::size_t>(ranks);
    return {std::vector<double>(all, anonymous), std::vector<double>(all, shared), std::vector<double>(all, 0),
            std::vector<double>(all, anonymous)};
}

/// An MPI that takes 1 MB and 10 kB for each rank, shares 2 kB with each other rank of the node, takes 5000 bytes for a
/// communicator and 100 more for each rank in it.
ProbeRun made_up_run(int ranks, double noise = 0) {
    ProbeRun run;
    run.ranks = ranks;
    double const own = 1e6 + 1e4 * ranks + noise;
    run.phases["before"] = phase(ranks, 5e5, 0);
    run.phases["init"] = phase(ranks, 5e5 + own, 2e3 * ranks);
    run.phases["communicator_warm"] = phase(ranks, 6e6, 0);
    run.phases["communicator_all"] = phase(ranks, 6e6 + 10 * (5000.0 + 100 * ranks), 0);
    run.phases["window_allocate_warm"] = phase(ranks, 7e6, 1e5);
    run.phases["window_allocate_all"] = phase(ranks, 7e6 + 2 * 3000, 1e5 + 2 * 65536);
    return run;
}

ItemStudy const& named(std::vector<ItemStudy> const& studies, std::string const& name) {
    for (ItemStudy const& study : studies)
        if (study.item.name == name) return study;
    throw std::runtime_error("no study of " + name);
}

std::vector<ItemStudy> made_up_study() {
    std::vector<ProbeRun> runs;
    for (int const ranks : {2, 4, 8, 16})
        for (double const noise : {0.0, 90000.0, -20.0})  // one run in three is disturbed, which medians ignore
            runs.push_back(made_up_run(ranks, noise));
    return study(runs, {10, 2, 65536});
}

TEST(MemoryStudy, takes_differences_of_phases_and_medians_of_runs) {
    ItemStudy const& init = named(made_up_study(), "no communication");
    ASSERT_EQ(init.measured.size(), 4u);
    EXPECT_EQ(init.measured[1].ranks, 4);
    EXPECT_EQ(init.measured[1].runs, 3);
    EXPECT_DOUBLE_EQ(init.measured[1].private_rank.median, 1.04e6);
    EXPECT_DOUBLE_EQ(init.measured[1].private_rank.max, 1.13e6);
    EXPECT_DOUBLE_EQ(init.measured[1].shared_node.median, 2e3 * 4 * 4);
}

TEST(MemoryStudy, finds_that_shared_segments_grow_with_the_square) {
    ItemStudy const& init = named(made_up_study(), "no communication");
    ASSERT_EQ(init.laws.size(), 3u);
    EXPECT_EQ(init.laws[1].law(), Law::quadratic);
    EXPECT_NEAR(init.laws[1].coefficients()[2], 2e3, 1);
}

TEST(MemoryStudy, divides_by_the_objects_and_takes_the_users_bytes_off) {
    std::vector<ItemStudy> const studies = made_up_study();
    EXPECT_DOUBLE_EQ(named(studies, "communicator").measured[0].private_rank.median, 5200);
    Measured const& window = named(studies, "window, allocate").measured[0];
    EXPECT_DOUBLE_EQ(window.private_rank.median, 3000);
    EXPECT_DOUBLE_EQ(window.shared_node.median, 0);
}

TEST(MemoryStudy, takes_bytes_of_a_private_window_off_the_private_part) {
    ProbeRun run = made_up_run(2);
    run.phases["window_allocate_all"] = phase(2, 7e6 + 2 * (65536 + 700), 1e5);
    for (Item const& item : items({10, 2, 65536}))
        if (item.name == "window, allocate") {
            ASSERT_EQ(amount_of(item, run).size(), 1u);
            EXPECT_DOUBLE_EQ(amount_of(item, run)[0].private_rank, 700);
            EXPECT_DOUBLE_EQ(amount_of(item, run)[0].shared_node, 0);
        }
}

TEST(MemoryStudy, leaves_out_what_was_not_measured) {
    for (ItemStudy const& study : made_up_study())
        EXPECT_EQ(study.item.name.find("window, create"), std::string::npos);
}

TEST(MemoryStudy, predicts_ranks_of_the_job_and_ranks_of_the_node_by_their_own_laws) {
    Prediction const prediction = predict(named(made_up_study(), "no communication"), 1024, 32);
    double const own = 1e6 + 1e4 * 1024;
    double const segments = 2e3 * 32 * 32;
    EXPECT_NEAR(prediction.node.value, 32 * own + segments, 0.1 * 32 * own);
    EXPECT_NEAR(prediction.rank.value * 32, prediction.node.value, 1);
    EXPECT_LE(prediction.node.low, 32 * own + segments);
    EXPECT_GE(prediction.node.high, 32 * own + segments);
    EXPECT_DOUBLE_EQ(prediction.beyond, 64);
    EXPECT_DOUBLE_EQ(prediction.node_beyond, 2);
}

TEST(MemoryStudy, says_that_an_extrapolation_is_far) {
    MemoryReport report{"openmpi", "Open MPI", 3, {}, made_up_study(), {}, 1024, 32, Peers::node};
    EXPECT_NE(memory_tables(report).find("This is FAR: 64 times"), std::string::npos) << memory_tables(report);
    EXPECT_NE(memory_tables(report).find("--peers network measures"), std::string::npos);
    report.peers = Peers::network;
    EXPECT_EQ(memory_tables(report).find("--peers network measures"), std::string::npos);
    report.predicted_ranks = 32;
    EXPECT_EQ(memory_tables(report).find("FAR"), std::string::npos);
}

TEST(MemoryStudy, says_what_the_mpi_refused) {
    ProbeRun run;
    run.ranks = 1;
    read_probe_line(R"({"phase":"window_create_all","refused":"no such component"})", run);
    MemoryReport const report{"openmpi", "Open MPI", 1, {}, {}, run.refused, 0, 0, Peers::node};
    EXPECT_NE(memory_tables(report).find("no such component"), std::string::npos);
    EXPECT_EQ(memory_rows(report).at(0).at("why"), "no such component");
}

TEST(MemoryProbeLines, are_told_from_other_output_and_checked) {
    ProbeRun run;
    run.ranks = 2;
    read_probe_line("WARNING: something the MPI says", run);
    read_probe_line("{broken", run);
    EXPECT_TRUE(run.phases.empty());
    read_probe_line(R"({"phase":"init","anonymous":[1,2],"shared":[3,4],"files":[5,6],"heap":[7,8]})", run);
    EXPECT_EQ(run.phases.at("init").heap, (std::vector<double>{7, 8}));
    EXPECT_THROW(read_probe_line(R"({"phase":"init","anonymous":[1],"shared":[3,4],"files":[5,6],"heap":[7,8]})", run),
                 std::runtime_error);
}

}  // namespace
}  // namespace sluice::cli
