// SPDX-License-Identifier: BSD-3-Clause
#include "cli/bench/plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace sluice::cli {
namespace {

TEST(BenchPlan, without_a_choice_has_every_case_and_every_mpi_but_not_every_combination) {
    std::vector<BenchCell> const cells = plan_cells({}, {"openmpi", "mpich"});
    std::set<std::string> cases;
    std::set<std::string> mpis;
    for (BenchCell const& cell : cells) {
        cases.insert(cell.map);
        mpis.insert(cell.mpi);
    }
    EXPECT_EQ(cases.size(), 7u);
    EXPECT_EQ(mpis.size(), 2u);
    BenchChoice everything;
    everything.full = true;
    EXPECT_LT(cells.size(), plan_cells(everything, {"openmpi", "mpich"}).size());
}

TEST(BenchPlan, with_a_choice_is_every_combination_of_it) {
    BenchChoice choice;
    choice.ranks = {2, 4};
    choice.cases = {"random"};
    choice.block_bytes = {64, 16000};
    EXPECT_EQ(plan_cells(choice, {"openmpi"}).size(), 4u);
}

TEST(BenchPlan, measures_an_mpi_that_was_asked_for_alone) {
    BenchChoice choice;
    choice.mpis = {"mpich"};
    for (BenchCell const& cell : plan_cells(choice, {"openmpi", "mpich"}))
        EXPECT_EQ(cell.mpi, "mpich");
}

}  // namespace
}  // namespace sluice::cli
