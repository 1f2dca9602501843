// SPDX-License-Identifier: BSD-3-Clause
/// Threshold events: the kernel signals that the usage of a control group has passed a mark before the next look is
/// due.
///
///     0                          M/2           3M/4     7M/8   …   M
///     |###########################|=============|========|==|=|=|==|      each mark halves what is left, down to M/64
///
/// Version 1 signals marks that a process sets, in both directions (cgroup.event_control, which often only root may
/// write). Version 2 has no marks; it signals that the limit was reached (memory.events).
#pragma once

#include <atomic>
#include <chrono>
#include <memory>

#include "budget/memory_limit.hpp"
#include "kernel/files/descriptor.hpp"
#include "kernel/helper_thread.hpp"

namespace sluice::budget {

/// Only the destructor waits. The kernel takes 8 to 24 ms to set one mark (a grace period of RCU, in which it sleeps
/// and other processes that set a mark wait), so the helper thread sets the marks, one in each run, and other jobs run
/// between them. It gets no job from an object that lives for less than 0.1 s. A look takes 0.2 to 0.4 µs. Not
/// thread-safe.
class UsageEvents final : public kernel::HelperThread::Job {
  public:
    static constexpr std::chrono::milliseconds k_settling{100};
    static constexpr unsigned k_marks = 6;  ///< the last mark leaves a 64th: the automatic reserve of up to 16 GiB

    /// `group` is a place in a control group. `turn` is the index of the process among those of the node: each process
    /// begins later than the last by k_settling, so that none waits for many others at its end.
    UsageEvents(MemoryPlace const& group, std::shared_ptr<kernel::HelperThread> helper, unsigned turn = 0);
    /// Waits for the mark that is being set now.
    ~UsageEvents();
    UsageEvents(UsageEvents const&) = delete;
    UsageEvents& operator=(UsageEvents const&) = delete;

    /// Sets marks for the limit M if there are none. Call it at each look.
    void follow(Bytes limit) noexcept;
    /// Whether the kernel has signalled something since the last call.
    bool told() noexcept;
    /// Whether signals can arrive: this process has the rights, and all marks are set.
    bool is_listening() const noexcept;
    /// Number of marks that are set for the present limit; thread-safe.
    unsigned marks() const noexcept { return marks_.load(std::memory_order_relaxed); }

  private:
    using Clock = std::chrono::steady_clock;

    bool start_to_mark(Bytes limit) noexcept;
    kernel::HelperThread::Clock::duration run() noexcept override;
    bool set_mark() noexcept;

    std::shared_ptr<kernel::HelperThread> helper_;
    bool has_marks_;              // true for version 1
    kernel::Descriptor control_;  // version 1: marks are set by writing here
    kernel::Descriptor usage_;    // version 1: the usage that marks refer to
    kernel::Descriptor event_;    // version 1: eventfd; version 2: memory.events
    Bytes marked_;                // the limit that the marks are or will be for
    Clock::time_point begin_at_;
    std::atomic<unsigned> marks_{0};
    // While it is true, the helper thread owns the descriptors and the limit.
    std::atomic<bool> is_marking_{false};
};

}  // namespace sluice::budget
