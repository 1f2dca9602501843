// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/thread/prompt_thread.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <thread>

namespace sluice::kernel {
namespace {

/// Of the calling thread; 0 where the kernel (before Linux 6.12) tells none.
std::uint64_t slice_ns() {
    std::array<std::uint8_t, 48> attributes{};
    if (syscall(SYS_sched_getattr, 0, attributes.data(), attributes.size(), 0) != 0) return 0;
    std::uint64_t ns = 0;
    std::memcpy(&ns, &attributes[24], sizeof ns);
    return ns;
}

TEST(PromptThread, has_short_slices_and_keeps_its_policy_and_niceness) {
    std::thread thread([] {
        auto const tid = static_cast<id_t>(gettid());
        int const policy = sched_getscheduler(0);                               // of the process that runs the tests
        int const niceness = std::min(getpriority(PRIO_PROCESS, tid) + 1, 19);  // not that of the other threads
        ASSERT_EQ(setpriority(PRIO_PROCESS, tid, niceness), 0);
        std::uint64_t const before = slice_ns();
        be_prompt();
        EXPECT_EQ(sched_getscheduler(0), policy);
        EXPECT_EQ(getpriority(PRIO_PROCESS, tid), niceness);
        EXPECT_EQ(prctl(PR_GET_TIMERSLACK), 1000);
        EXPECT_EQ(slice_ns(), before == 0 || policy != SCHED_OTHER ? before : 100'000U);
    });
    thread.join();
}

TEST(PromptThread, leaves_threads_with_another_policy_alone) {
    std::thread thread([] {
        sched_param const none{};
        ASSERT_EQ(sched_setscheduler(0, SCHED_IDLE, &none), 0);
        std::uint64_t const before = slice_ns();
        be_prompt();
        EXPECT_EQ(sched_getscheduler(0), SCHED_IDLE);
        EXPECT_EQ(slice_ns(), before);
    });
    thread.join();
}

TEST(PromptThread, does_not_change_other_threads) {
    std::uint64_t const before = slice_ns();
    std::thread(be_prompt).join();
    EXPECT_EQ(slice_ns(), before);
}

}  // namespace
}  // namespace sluice::kernel
