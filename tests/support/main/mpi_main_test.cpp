// SPDX-License-Identifier: BSD-3-Clause
/// The main function of parallel tests, tested: it runs on all ranks, and it notices failures, skips and hangs.
#include <gtest/gtest.h>
#include <mpi.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

#include "support/needs_ranks.hpp"

namespace {

int rank() {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

int ranks() {
    int ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    return ranks;
}

}  // namespace

TEST(MpiMain, runs_every_rank_in_one_world) {
    int sum = 1;
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    EXPECT_EQ(sum, ranks());
}

TEST(MpiMain, gives_each_test_the_limit_of_its_time) {
    EXPECT_NE(std::getenv("SLUICE_TEST_SECONDS"), nullptr);
}

SLUICE_NEEDS_RANKS(3, MpiMain, of_three_ranks);
TEST(MpiMain, of_three_ranks) {
    EXPECT_GE(ranks(), 3);
}

class MpiMainWith : public testing::TestWithParam<int> {};
SLUICE_NEEDS_RANKS(3, MpiMainWith, three_ranks);
TEST_P(MpiMainWith, three_ranks) {
    EXPECT_GE(ranks(), 3);
}
TEST_P(MpiMainWith, any_number_of_ranks) {}
INSTANTIATE_TEST_SUITE_P(Some, MpiMainWith, testing::Values(1, 2));

TEST(MpiMain, leaves_those_cases_out_that_need_more_ranks) {
    sluice::tests::leave_out_cases_of_more_ranks(2);
    std::string const filter = GTEST_FLAG_GET(filter);
    EXPECT_NE(filter.find("MpiMain.of_three_ranks"), std::string::npos) << filter;
    EXPECT_EQ(filter.find("any_number_of_ranks"), std::string::npos) << filter;
    EXPECT_NE(filter.find("*/MpiMainWith.three_ranks/*"), std::string::npos) << filter;
}

TEST(MpiMain, finds_a_need_that_belongs_to_no_case) {
    sluice::tests::needs_ranks("MpiMain.of_tree_ranks", 2);
    EXPECT_NE(sluice::tests::leave_out_cases_of_more_ranks(3).find("MpiMain.of_tree_ranks"), std::string::npos);
}

// This case runs only if the test is expected to fail, or to report a skip.
TEST(Broken, DISABLED_fails_on_the_last_rank) {
    EXPECT_NE(rank(), ranks() - 1);
}

TEST(Broken, DISABLED_skips_itself_on_the_last_rank) {
    if (rank() == ranks() - 1) GTEST_SKIP() << "lacks a thing";
}

// The other ranks wait for this rank in MPI, and spin.
TEST(Broken, DISABLED_hangs_on_the_last_rank) {
    if (rank() == ranks() - 1) std::this_thread::sleep_for(std::chrono::hours(1));
}

TEST(Broken, DISABLED_hangs_with_all_ranks_asleep) {
    std::this_thread::sleep_for(std::chrono::hours(1));
}

TEST(Broken, DISABLED_hangs_and_looks_now_and_then) {
    for (;;)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

TEST(Broken, DISABLED_hangs_and_spins) {
    for (std::atomic<bool> volatile ended{false}; !ended;) {  // volatile: Clang leaves out an empty loop without end
    }
}
