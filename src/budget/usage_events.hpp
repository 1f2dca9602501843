// SPDX-License-Identifier: BSD-3-Clause
/// Threshold events: the kernel's word that what is used of a control group has passed a mark, before the next look at
/// it is due.
///
///     0                          M/2           3M/4     7M/8   …   M
///     |###########################|=============|========|==|=|=|==|      each mark halves what is left, down to M/64
///
/// Version 1 tells of marks of ours in both directions (cgroup.event_control, which is often root's alone). Version 2
/// has no marks; it tells that the limit was met (memory.events).
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "budget/memory_limit.hpp"

namespace sluice::budget {

/// Nothing here waits but the end of it: the kernel takes 8 to 24 ms to set one mark (a grace period of RCU, in which
/// it sleeps, and others who want one wait), so a thread of its own sets them and ends; and none is made where this
/// lives for less than 0.1 s. A look takes 0.2 to 0.4 µs. Not thread-safe.
class UsageEvents {
  public:
    static constexpr std::chrono::milliseconds k_settling{100};

    /// `group` is a place in a control group; `turn` that of the process among those of the node: each begins later by
    /// k_settling, so that none waits for many at its end.
    explicit UsageEvents(MemoryPlace const& group, unsigned turn = 0);
    /// Waits for the mark that is being set now.
    ~UsageEvents();
    UsageEvents(UsageEvents const&) = delete;
    UsageEvents& operator=(UsageEvents const&) = delete;

    /// `limit` is M now: marks for it are set where there are none. To be called at each look.
    void follow(Bytes limit) noexcept;
    /// Whether the kernel has told something since the last call.
    bool told() noexcept;
    /// Whether it can: the rights are there, and all marks.
    bool is_listening() const noexcept;

  private:
    using Clock = std::chrono::steady_clock;

    bool start_to_mark(Bytes limit) noexcept;
    void mark(Bytes limit, int event) noexcept;
    void wait_for_marks() noexcept;

    bool has_marks_;    // version 1
    int control_ = -1;  // version 1: where marks are set
    int usage_ = -1;    // version 1: what they are of
    int event_ = -1;    // version 1: eventfd; version 2: memory.events
    Bytes marked_;      // the limit that marks are for, or will be
    Clock::time_point begin_at_;
    std::atomic<unsigned> marks_{0};
    std::atomic<bool> is_marking_{false};
    std::atomic<bool> ends_{false};
    std::thread marking_;
    pid_t marker_ = 0;  // the process that marking_ is in
};

}  // namespace sluice::budget
