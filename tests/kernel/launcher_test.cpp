// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/launcher.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <initializer_list>
#include <map>
#include <string>
#include <utility>

namespace sluice::kernel {
namespace {

constexpr std::initializer_list<char const*> k_all = {"OMPI_COMM_WORLD_RANK",
                                                      "OMPI_COMM_WORLD_LOCAL_SIZE",
                                                      "OMPI_COMM_WORLD_LOCAL_RANK",
                                                      "MPI_LOCALRANKID",
                                                      "SLURM_LOCALID",
                                                      "PMIX_RANK",
                                                      "PMI_RANK",
                                                      "MPI_LOCALNRANKS",
                                                      "SLURM_PROCID",
                                                      "SLURM_NODEID",
                                                      "SLURM_STEP_TASKS_PER_NODE",
                                                      "SLURM_TASKS_PER_NODE",
                                                      "SLURM_NTASKS_PER_NODE",
                                                      "OMPI_COMM_WORLD_SIZE",
                                                      "PMI_SIZE",
                                                      "SLURM_STEP_NUM_TASKS"};

/// The environment of one made-up rank; the variables of the test's own launcher are hidden meanwhile.
class Environment {
  public:
    Environment(std::initializer_list<std::pair<char const*, char const*>> variables) {
        for (char const* const name : k_all) {
            if (char const* const value = std::getenv(name)) before_.emplace(name, value);
            unsetenv(name);
        }
        for (auto const& [name, value] : variables)
            setenv(name, value, 1);
    }
    Environment(Environment const&) = delete;
    Environment& operator=(Environment const&) = delete;
    ~Environment() {
        for (char const* const name : k_all)
            unsetenv(name);
        for (auto const& [name, value] : before_)
            setenv(name.c_str(), value.c_str(), 1);
    }

  private:
    std::map<std::string, std::string> before_;
};

TEST(Launcher, is_unknown_without_one) {
    Environment const none{};
    EXPECT_EQ(rank_of_launcher(), nullptr);
    EXPECT_EQ(ranks_of_node(), std::nullopt);
}

TEST(Launcher, the_first_rank_of_each_node_is_known_by_its_number_there_and_else_rank_0) {
    {
        Environment const rank{{"OMPI_COMM_WORLD_RANK", "9"}, {"OMPI_COMM_WORLD_LOCAL_RANK", "0"}};
        EXPECT_TRUE(is_first_of_node());
    }
    {
        Environment const rank{{"PMI_RANK", "0"}, {"MPI_LOCALRANKID", "1"}};
        EXPECT_FALSE(is_first_of_node());
    }
    {
        Environment const rank{{"SLURM_PROCID", "3"}, {"SLURM_LOCALID", "0"}};
        EXPECT_TRUE(is_first_of_node());
    }
    {
        Environment const rank{{"PMIX_RANK", "1"}};
        EXPECT_FALSE(is_first_of_node());
    }
    Environment const none{};
    EXPECT_TRUE(is_first_of_node());
}

TEST(Launcher, open_mpi_tells_rank_and_ranks_of_the_node) {
    Environment const rank{{"OMPI_COMM_WORLD_RANK", "9"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "6"}, {"PMIX_RANK", "9"}};
    EXPECT_STREQ(rank_of_launcher(), "9");
    EXPECT_EQ(ranks_of_node(), 6U);
}

TEST(Launcher, mpich_tells_rank_and_ranks_of_the_node) {
    Environment const rank{{"PMI_RANK", "3"}, {"MPI_LOCALNRANKS", "4"}};
    EXPECT_STREQ(rank_of_launcher(), "3");
    EXPECT_EQ(ranks_of_node(), 4U);
}

TEST(Launcher, slurm_tells_the_ranks_of_each_node_of_the_step) {
    for (auto const& [node, ranks] : {std::pair{"0", 2U}, {"2", 2U}, {"3", 1U}}) {
        Environment const rank{{"SLURM_PROCID", "5"}, {"SLURM_NODEID", node}, {"SLURM_STEP_TASKS_PER_NODE", "2(x3),1"}};
        EXPECT_STREQ(rank_of_launcher(), "5");
        EXPECT_EQ(ranks_of_node(), ranks) << node;
    }
}

// srun --ntasks=5 --ntasks-per-node=4 on two nodes: the option stays in the environment, but the step has 3 and 2 ranks
// on them.
TEST(Launcher, what_slurm_was_asked_for_is_not_what_a_node_has) {
    Environment const rank{{"SLURM_PROCID", "4"},
                           {"SLURM_NODEID", "1"},
                           {"SLURM_NTASKS_PER_NODE", "4"},
                           {"SLURM_TASKS_PER_NODE", "4(x2)"},
                           {"SLURM_STEP_TASKS_PER_NODE", "3,2"}};
    EXPECT_EQ(ranks_of_node(), 2U);
}

// In a batch script without a step of its own, Slurm has not started the ranks.
TEST(Launcher, an_allocation_of_slurm_alone_tells_nothing_of_ranks) {
    Environment const script{{"SLURM_NODEID", "0"}, {"SLURM_TASKS_PER_NODE", "4"}, {"SLURM_NTASKS_PER_NODE", "4"}};
    EXPECT_EQ(ranks_of_node(), std::nullopt);
}

// mpirun starts one daemon on each node by srun, and the ranks inherit the daemon's variables.
TEST(Launcher, a_launcher_inside_slurm_counts) {
    for (char const* const name : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"}) {
        Environment const rank{
            {name, "24"}, {"SLURM_PROCID", "0"}, {"SLURM_NODEID", "0"}, {"SLURM_STEP_TASKS_PER_NODE", "1(x2)"}};
        EXPECT_EQ(ranks_of_node(), 24U) << name;
    }
}

TEST(Launcher, a_job_is_on_one_node_if_the_launcher_counts_as_many_ranks_there_as_in_all) {
    for (auto const& [here, in_all] : {std::pair{"OMPI_COMM_WORLD_LOCAL_SIZE", "OMPI_COMM_WORLD_SIZE"},
                                       {"MPI_LOCALNRANKS", "PMI_SIZE"},
                                       {"SLURM_STEP_TASKS_PER_NODE", "SLURM_STEP_NUM_TASKS"}}) {
        {
            Environment const rank{{"SLURM_NODEID", "0"}, {here, "8"}, {in_all, "8"}};
            EXPECT_TRUE(has_all_ranks_on_this_node()) << here;
        }
        {
            Environment const rank{{"SLURM_NODEID", "0"}, {here, "8"}, {in_all, "16"}};
            EXPECT_FALSE(has_all_ranks_on_this_node()) << here;
        }
        {
            Environment const rank{{"SLURM_NODEID", "0"}, {here, "8"}};
            EXPECT_FALSE(has_all_ranks_on_this_node()) << here;
        }
        {
            Environment const rank{{"SLURM_NODEID", "0"}, {in_all, "8"}};
            EXPECT_FALSE(has_all_ranks_on_this_node()) << in_all;
        }
    }
    Environment const none{};
    EXPECT_FALSE(has_all_ranks_on_this_node());
}

TEST(Launcher, a_number_that_is_none_is_not_believed) {
    for (char const* const text : {"0", "-1", "x", "4x", "99999999999", "2000000"}) {
        Environment const rank{{"OMPI_COMM_WORLD_LOCAL_SIZE", text}};
        EXPECT_EQ(ranks_of_node(), std::nullopt) << text;
    }
    Environment const node{{"SLURM_NODEID", "0x"}, {"SLURM_STEP_TASKS_PER_NODE", "2"}};
    EXPECT_EQ(ranks_of_node(), std::nullopt);
}

TEST(Launcher, empty_variables_are_none) {
    Environment const rank{{"OMPI_COMM_WORLD_RANK", ""}, {"PMI_RANK", "2"}};
    EXPECT_STREQ(rank_of_launcher(), "2");
    EXPECT_EQ(variable("OMPI_COMM_WORLD_RANK"), nullptr);
}

TEST(SlurmTasks, are_counted_node_by_node) {
    EXPECT_EQ(slurm_tasks_on("4", 0), 4U);
    EXPECT_EQ(slurm_tasks_on("2(x3),1", 0), 2U);
    EXPECT_EQ(slurm_tasks_on("2(x3),1", 2), 2U);
    EXPECT_EQ(slurm_tasks_on("2(x3),1", 3), 1U);
    EXPECT_EQ(slurm_tasks_on("1,48(x1000),7(x2)", 1002), 7U);
}

TEST(SlurmTasks, of_nodes_that_are_not_there_or_lists_that_are_none_are_unknown) {
    EXPECT_EQ(slurm_tasks_on("2(x3),1", 4), std::nullopt);
    for (char const* const list : {"", "x", "0", "2(x", "2(x)", "2(x3", "2,", "-1", "2 3"})
        EXPECT_EQ(slurm_tasks_on(list, 7), std::nullopt) << list;
}

}  // namespace
}  // namespace sluice::kernel
