// SPDX-License-Identifier: BSD-3-Clause
#include "cli/run/slurm_tasks.hpp"

#include <gtest/gtest.h>

namespace sluice::cli {
namespace {

TEST(SlurmTasks, are_counted_node_by_node) {
    EXPECT_EQ(slurm_tasks_on("4", 0), 4u);
    EXPECT_EQ(slurm_tasks_on("2(x3),1", 0), 2u);
    EXPECT_EQ(slurm_tasks_on("2(x3),1", 2), 2u);
    EXPECT_EQ(slurm_tasks_on("2(x3),1", 3), 1u);
    EXPECT_EQ(slurm_tasks_on("1,48(x1000),7(x2)", 1002), 7u);
}

TEST(SlurmTasks, of_nodes_that_are_not_there_or_lists_that_are_none_are_unknown) {
    EXPECT_EQ(slurm_tasks_on("2(x3),1", 4), std::nullopt);
    for (char const* const list : {"", "x", "0", "2(x", "2(x)", "2(x3", "2,", "-1", "2 3"})
        EXPECT_EQ(slurm_tasks_on(list, 7), std::nullopt) << list;
}

}  // namespace
}  // namespace sluice::cli
