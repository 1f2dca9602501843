// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/job/run_mark.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <string>

namespace sluice::kernel {
namespace {

/// The launcher's variables are those of the test; those of its own launcher are hidden meanwhile.
class RunMark : public testing::Test {
  protected:
    RunMark() {
        for (char const* const name : k_all) {
            if (char const* const value = std::getenv(name)) before_.emplace(name, value);
            unsetenv(name);
        }
    }
    ~RunMark() override {
        for (char const* const name : k_all)
            unsetenv(name);
        for (auto const& [name, value] : before_)
            setenv(name.c_str(), value.c_str(), 1);
    }
    static void mark() { setenv(k_run_variable, run_mark().c_str(), 1); }

  private:
    static constexpr char const* k_all[] = {"PMIX_NAMESPACE", "PMI_RANK", "SLURM_JOB_ID", "SLURM_STEP_ID",
                                            k_run_variable};
    std::map<std::string, std::string> before_;
};

TEST_F(RunMark, is_that_of_the_process_and_not_of_a_child) {
    EXPECT_FALSE(is_run_itself()) << "there is no mark";
    mark();
    EXPECT_TRUE(is_run_itself());
    pid_t const child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) _exit(is_run_itself() ? 1 : 0);
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    setenv(k_run_variable, (std::to_string(getpid()) + ".1 - - -").c_str(), 1);
    EXPECT_FALSE(is_run_itself()) << "an earlier process had this number";
}

TEST_F(RunMark, tells_a_job_from_another_that_a_rank_starts) {
    EXPECT_FALSE(is_of_other_job()) << "there is no mark";
    setenv("PMIX_NAMESPACE", "1.1", 1);
    mark();
    EXPECT_FALSE(is_of_other_job());
    setenv("PMIX_NAMESPACE", "2.1", 1);
    EXPECT_TRUE(is_of_other_job());
    unsetenv("PMIX_NAMESPACE");
    EXPECT_TRUE(is_of_other_job()) << "a program without a launcher";
}

TEST_F(RunMark, tells_a_job_of_another_launcher_although_the_variables_of_the_first_are_inherited) {
    setenv("PMIX_NAMESPACE", "1.1", 1);
    mark();
    setenv("SLURM_JOB_ID", "7", 1);
    setenv("SLURM_STEP_ID", "1", 1);
    EXPECT_TRUE(is_of_other_job());
    mark();
    EXPECT_FALSE(is_of_other_job());
    setenv("SLURM_STEP_ID", "2", 1);
    EXPECT_TRUE(is_of_other_job());
}

TEST_F(RunMark, does_not_tell_where_a_launcher_is_hidden) {
    setenv(k_run_variable, "1.1 - 4711.12 -", 1);
    EXPECT_TRUE(is_of_other_job()) << "without a launcher";
    setenv(k_run_variable, "1.1 - ? -", 1);
    setenv("PMI_RANK", "0", 1);
    EXPECT_FALSE(is_of_other_job());
}

TEST_F(RunMark, that_is_broken_tells_nothing) {
    for (char const* const mark : {"x", "", "1.1", "1.1 "}) {
        setenv(k_run_variable, mark, 1);
        EXPECT_FALSE(is_run_itself()) << mark;
        EXPECT_FALSE(is_of_other_job()) << mark;
    }
}

}  // namespace
}  // namespace sluice::kernel
