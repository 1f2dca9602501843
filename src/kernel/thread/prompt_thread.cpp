// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/thread/prompt_thread.hpp"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace sluice::kernel {

namespace {

constexpr unsigned long k_timer_slack_ns = 1000;
constexpr std::uint64_t k_shortest_slice_ns = 100'000;

/// sched_setattr(2). The header of the kernel that has it cannot be included beside <sched.h>.
struct Scheduling {
    std::uint32_t size = sizeof(Scheduling);
    std::uint32_t policy;
    std::uint64_t flags;
    std::int32_t niceness;
    std::uint32_t priority;
    std::uint64_t slice_ns;
    std::uint64_t deadline_ns;
    std::uint64_t period_ns;
};

}  // namespace

void be_prompt() noexcept {
    prctl(PR_SET_TIMERSLACK, k_timer_slack_ns);
    Scheduling own{};
    if (syscall(SYS_sched_getattr, 0, &own, sizeof own, 0) != 0 || own.policy != SCHED_OTHER) return;
    own.slice_ns = k_shortest_slice_ns;
    syscall(SYS_sched_setattr, 0, &own, 0);
}

}  // namespace sluice::kernel
