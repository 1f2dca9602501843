// SPDX-License-Identifier: BSD-3-Clause
/// Threshold events in a child of fork(). A program of its own, because it cannot run with the thread sanitizer.
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <memory>

#include "budget/test_group.hpp"
#include "budget/usage_events_bed.hpp"

namespace sluice::tests {
namespace {

TEST_F(UsageEventsTest, can_be_followed_by_a_child_that_has_marks_of_its_parent) {
    TestGroup const group(own_group());
    if (!can_mark(group)) GTEST_SKIP() << k_no_group;
    auto events = std::make_unique<budget::UsageEvents>(place_in(group.folder(), 64_MiB), helper());
    wait_until_marked(*events, 64_MiB);
    pid_t const child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);  // the child has no watchdog of its own
        std::size_t const before = threads_of_this_process();
        events->follow(128_MiB);
        // Waits for the thread that was made here. A thread that lived on would write to freed memory, which the
        // address sanitizer reports.
        events.reset();
        wait_until([&] { return threads_of_this_process() == before; });
        _exit(0);
    }
    int status = 1;
    wait_until([&] { return waitpid(child, &status, WNOHANG) == child; });
    EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace sluice::tests
