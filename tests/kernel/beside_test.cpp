// SPDX-License-Identifier: BSD-3-Clause
// A command that runs beside a program which must not notice it.
#include "kernel/process/beside.hpp"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <string>

namespace sluice::kernel {
namespace {

std::optional<std::string> shell(std::string const& script) {
    return output_of_beside({"/bin/sh", "-c", script});
}

TEST(Beside, gives_what_the_command_wrote_before_its_zero) {
    EXPECT_EQ(shell("printf 'two\\nlines\\n\\0 and more'"), "two\nlines\n");
    EXPECT_EQ(shell("i=0; while [ $i -lt 20000 ]; do echo 0123456789; i=$((i+1)); done; printf '\\0'")->size(), 220000U)
        << "more than a pipe holds";
}

TEST(Beside, gives_nothing_of_a_command_that_cannot_start_or_does_not_end_well) {
    EXPECT_FALSE(output_of_beside({"/no/such/program"}));
    EXPECT_FALSE(shell("printf text"));
    EXPECT_FALSE(shell("printf text; kill -9 $$"));
}

TEST(Beside, notices_the_end_of_a_command_whose_pipe_a_child_keeps) {
    std::string const file = testing::TempDir() + "sluice-beside-" + std::to_string(getpid());
    for (char const* end : {"exit 1", "printf '\\0'"}) {
        bool const ends_well = std::string(end) != "exit 1";
        EXPECT_EQ(shell("sleep 1000 & echo $! > " + file + "; " + end).has_value(), ends_well);
        pid_t child = 0;
        std::ifstream(file) >> child;
        ASSERT_GT(child, 0);
        EXPECT_EQ(kill(child, SIGKILL), 0) << "it lives, and so the pipe was open";
    }
    unlink(file.c_str());
}

TEST(Beside, runs_a_command_for_a_program_that_has_closed_its_standard_streams) {
    for (unsigned closed = 1; closed < 8; ++closed) {
        pid_t const child = fork();
        if (child == 0) {
            for (int number = 0; number < 3; ++number)
                if ((closed >> number & 1U) != 0) close(number);
            _exit(shell("printf 'text\\0'") == "text" ? 0 : 1);
        }
        int status = 1;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        EXPECT_EQ(status, 0) << "closed: " << closed;
    }
}

TEST(Beside, does_not_pass_a_preload_on) {
    setenv("LD_PRELOAD", "", 1);
    EXPECT_EQ(shell("printf \"${LD_PRELOAD-none}\\0\""), "none");
    unsetenv("LD_PRELOAD");
}

std::atomic<int> g_children{0};

TEST(Beside, is_no_child_of_the_program_and_sends_it_no_signal) {
    struct sigaction count {};
    struct sigaction before {};
    count.sa_handler = [](int) { ++g_children; };
    sigaction(SIGCHLD, &count, &before);
    EXPECT_EQ(shell("printf '\\0'"), "");
    EXPECT_EQ(waitpid(-1, nullptr, 0), -1);
    EXPECT_EQ(errno, ECHILD);
    EXPECT_EQ(g_children, 0);
    sigaction(SIGCHLD, &before, nullptr);
}

TEST(Beside, starts_nothing_for_a_program_that_would_get_it_as_a_child) {
    ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    EXPECT_FALSE(shell("printf 'text\\0'"));
    EXPECT_EQ(waitpid(-1, nullptr, 0), -1);
    EXPECT_EQ(errno, ECHILD);
    prctl(PR_SET_CHILD_SUBREAPER, 0);
}

TEST(Beside, begins_with_the_signals_of_a_new_program) {
    sigset_t blocked;
    sigset_t before;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &blocked, &before);
    EXPECT_FALSE(shell("kill -TERM $$; printf '\\0'")) << "SIGTERM ends it";
    sigset_t now;
    pthread_sigmask(SIG_SETMASK, &before, &now);
    EXPECT_TRUE(sigismember(&now, SIGTERM) == 1 && sigismember(&now, SIGINT) == 0) << "the mask is as it was";
}

}  // namespace
}  // namespace sluice::kernel
