// SPDX-License-Identifier: BSD-3-Clause
#include "cli/bench/fluctuation/plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace sluice::cli {
namespace {

FluctuationChoice choice_of(std::string const& bed, std::string const& name) {
    FluctuationChoice choice;
    choice.beds = {bed};
    choice.cases = {name};
    return choice;
}

TEST(BenchFluctuationPlan, makes_boxes_of_even_numbers_that_hold_what_was_asked_for) {
    for (std::uint64_t cubes = 8; cubes < 5000; cubes += 8) {
        auto const box = box_of(cubes);
        auto const made = static_cast<std::uint64_t>(box[0]) * static_cast<std::uint64_t>(box[1]) *
                          static_cast<std::uint64_t>(box[2]);
        EXPECT_GE(made, cubes);
        EXPECT_LE(made, cubes + 8);
        for (int const side : box)
            EXPECT_EQ(side % 2, 0) << cubes;
    }
}

TEST(BenchFluctuationPlan, makes_the_sizes_across_the_limit_exactly) {
    for (FluctuationLaunch const& launch : plan_fluctuation(choice_of("limited", "jacobi13"), {"openmpi"})) {
        int const cubes = launch.cubes[0] * launch.cubes[1] * launch.cubes[2];
        EXPECT_EQ(cubes * 32 * 32 * 32 * 16, launch.base_mib * launch.ranks << 20);
    }
}

TEST(BenchFluctuationPlan, measures_each_method_alone_in_a_small_node_and_before_that_without_a_limit) {
    std::set<std::string> free;
    std::set<std::string> limited;
    for (FluctuationLaunch const& launch : plan_fluctuation(choice_of("limited", "jacobi7"), {"openmpi"})) {
        EXPECT_EQ(launch.bed == "limited", launch.after_one_without_limit);
        if (launch.bed == "local") {
            EXPECT_EQ(launch.node_mib, 0);
            for (std::string const& method : launch.methods)
                free.insert(std::to_string(launch.base_mib) + method);
        } else {
            ASSERT_EQ(launch.methods.size(), 1u);
            EXPECT_EQ(launch.node_mib, 192);
            std::string const what = std::to_string(launch.base_mib) + launch.methods.front();
            EXPECT_TRUE(free.contains(what)) << what;
            limited.insert(what);
        }
    }
    EXPECT_EQ(free, limited);
    EXPECT_EQ(limited.size(), 7u * 10);
}

TEST(BenchFluctuationPlan, divides_the_memory_between_two_nodes_with_a_wire) {
    auto const launches = plan_fluctuation(choice_of("limited_cluster", "jacobi13"), {"openmpi"});
    ASSERT_FALSE(launches.empty());
    for (FluctuationLaunch const& launch : launches) {
        EXPECT_EQ(launch.bed, launch.after_one_without_limit ? "limited_cluster" : "cluster");
        EXPECT_EQ(launch.node_mib, launch.after_one_without_limit ? 96 : 0);
        EXPECT_EQ(launch.nodes, launch.after_one_without_limit ? 2 : 1);
    }
}

TEST(BenchFluctuationPlan, leaves_room_beside_the_neighbour) {
    auto const launches = plan_fluctuation(choice_of("limited", "adaptation"), {"openmpi"});
    ASSERT_FALSE(launches.empty());
    for (FluctuationLaunch const& launch : launches) {
        EXPECT_LE(launch.base_mib * launch.ranks * 10, launch.node_mib * 4);
        EXPECT_EQ(launch.neighbour_mib * 2, launch.node_mib);
    }
}

TEST(BenchFluctuationPlan, has_twice_the_nodes_memory_out_of_core) {
    auto const launches = plan_fluctuation(choice_of("limited", "outofcore"), {"openmpi"});
    ASSERT_EQ(launches.size(), 4u);
    EXPECT_EQ(launches[0].methods.size(), 3u);
    for (std::size_t i = 1; i < launches.size(); ++i)
        EXPECT_EQ(launches[i].base_mib * launches[i].ranks, 2 * launches[i].node_mib);
}

TEST(BenchFluctuationPlan, runs_the_simulator_once_whatever_other_mpis_there_are) {
    auto const launches = plan_fluctuation(choice_of("simulated", "jacobi7"), {"openmpi", "mpich"});
    ASSERT_EQ(launches.size(), 1u);
    EXPECT_EQ(launches[0].mpi, "simgrid");
    EXPECT_EQ(launches[0].ranks, 512);
}

TEST(BenchFluctuationPlan, has_no_simulated_rank_send_to_itself) {
    for (int const ranks : {8, 16, 32, 64, 128, 256, 512, 1024}) {
        FluctuationChoice choice = choice_of("simulated", "jacobi7");
        choice.ranks = {ranks};
        auto const box = plan_fluctuation(choice, {}).at(0).cubes;
        EXPECT_GE(box[0] * box[1] * box[2], 4 * ranks);
        int stride = 1;
        for (std::size_t axis = 3; axis-- > 0; stride *= box.at(axis)) {
            EXPECT_NE(stride % ranks, 0) << ranks;
            EXPECT_NE(stride * (box.at(axis) - 1) % ranks, 0) << ranks;
        }
    }
}

TEST(BenchFluctuationPlan, has_nothing_to_run_where_a_bed_cannot_carry_the_case) {
    EXPECT_TRUE(plan_fluctuation(choice_of("cluster", "adaptation"), {"openmpi"}).empty());
    EXPECT_TRUE(plan_fluctuation(choice_of("limited", "micro"), {"openmpi"}).empty());
    EXPECT_TRUE(plan_fluctuation(choice_of("cluster", "micro"), {}).empty());
}

}  // namespace
}  // namespace sluice::cli
