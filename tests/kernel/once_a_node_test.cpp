// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/job/once_a_node.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "support/limits/descriptors.hpp"

namespace sluice::kernel {
namespace {

using tests::open_descriptors;

class OnceANode : public testing::Test {
  protected:
    /// The ranks of a job have a name in common.
    OnceANode() { setenv("PMIX_NAMESPACE", ("test-" + std::to_string(getpid())).c_str(), 1); }
    ~OnceANode() override {
        forget_what_was_said();
        unsetenv("PMIX_NAMESPACE");
    }
    /// What another rank is told.
    static bool another_is_first(char const* text) {
        pid_t const child = fork();
        if (child == 0) _exit(is_first_to_say(text) ? 1 : 0);
        int status = 0;
        waitpid(child, &status, 0);
        return WEXITSTATUS(status) == 1;
    }
    std::set<int> const before_ = open_descriptors();
};

TEST_F(OnceANode, the_first_says_it_for_all_until_it_has_forgotten) {
    EXPECT_TRUE(is_first_to_say("a line"));
    EXPECT_TRUE(is_first_to_say("another line"));
    EXPECT_FALSE(another_is_first("a line"));
    EXPECT_FALSE(is_first_to_say("another line"));
    EXPECT_EQ(open_descriptors().size(), before_.size() + 2);
    forget_what_was_said();
    EXPECT_EQ(open_descriptors(), before_);
    EXPECT_TRUE(another_is_first("a line"));
}

TEST_F(OnceANode, what_the_program_has_put_on_a_number_stays) {
    EXPECT_TRUE(is_first_to_say("a line"));
    std::set<int> now = open_descriptors();
    for (int const number : before_)
        now.erase(number);
    ASSERT_EQ(now.size(), 1U);
    int const null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    ASSERT_EQ(dup2(null, *now.begin()), *now.begin());
    close(null);
    forget_what_was_said();
    EXPECT_GE(fcntl(*now.begin(), F_GETFD), 0);
    close(*now.begin());
}

TEST_F(OnceANode, each_speaks_if_no_descriptor_can_be_kept) {
    tests::DescriptorLimit const limit(40);
    EXPECT_TRUE(is_first_to_say("a line"));
    EXPECT_TRUE(another_is_first("a line"));
    EXPECT_EQ(open_descriptors(), before_);
}

}  // namespace
}  // namespace sluice::kernel
