// SPDX-License-Identifier: BSD-3-Clause
/// How long the program has waited in calls that complete its requests. What comes in that time is not hidden.
#pragma once

#include <atomic>
#include <chrono>

namespace sluice::plugin {

class WaitingTime {
  public:
    using Clock = std::chrono::steady_clock;

    // By the program's thread.
    void begin() noexcept { begun_.store(Clock::now().time_since_epoch().count(), std::memory_order_relaxed); }
    void end() noexcept {
        auto const now = Clock::now();
        before_.store(until(now).count(), std::memory_order_relaxed);
        begun_.store(0, std::memory_order_relaxed);
    }
    /// Up to `now`, also while the program waits. By any thread in its turn.
    Clock::duration until(Clock::time_point now) const noexcept {
        Clock::rep const begun = begun_.load(std::memory_order_relaxed);
        Clock::rep const before = before_.load(std::memory_order_relaxed);
        return Clock::duration(begun == 0 ? before : before + now.time_since_epoch().count() - begun);
    }

  private:
    std::atomic<Clock::rep> before_{0};
    std::atomic<Clock::rep> begun_{0};  // 0: it does not wait
};

}  // namespace sluice::plugin
