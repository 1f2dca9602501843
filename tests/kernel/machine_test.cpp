// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/machine.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sluice::kernel {
namespace {

TEST(Machine, is_known_and_stays_the_same) {
    EXPECT_NE(this_machine(), 0U);
    EXPECT_EQ(this_machine(), this_machine());
}

TEST(Machine, is_the_same_in_another_process) {
    std::uint64_t const own = this_machine();
    pid_t const child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) _exit(this_machine() == own ? 7 : 8);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 7);
}

TEST(Machine, differs_by_boot_and_by_space_of_process_numbers) {
    EXPECT_EQ(machine_of("a boot", 4026531836), machine_of("a boot", 4026531836));
    EXPECT_NE(machine_of("a boot", 4026531836), machine_of("another boot", 4026531836));
    EXPECT_NE(machine_of("a boot", 4026531836), machine_of("a boot", 4026531837));
}

}  // namespace
}  // namespace sluice::kernel
