// SPDX-License-Identifier: BSD-3-Clause
/// What one thread sleeps on: a time, a bell that other threads ring, and descriptors that become readable.
///
///     time, bell ── condition variable ──> sleep_until        until listen_to() is called
///
///     timerfd ─┐
///     eventfd ─┼── epoll ────────────────> sleep_until        from then on
///     others  ─┘
///
/// So the process has descriptors of it only if there is a descriptor to wait for.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "kernel/files/descriptor.hpp"

namespace sluice::kernel {

/// One thread sleeps and looks; any thread may call the other functions. The timer is exact to a few µs, unlike the
/// time-outs of epoll_wait, which are whole milliseconds.
class AlarmClock {
  public:
    using Clock = std::chrono::steady_clock;

    /// What was told of descriptors.
    struct News {
        struct Told {
            std::uint64_t number;  ///< as given to listen_to()
            bool is_over;          ///< no more will come, or the descriptor is broken
        };
        std::array<Told, 16> told;  // the rest is told by the next look
        std::size_t count = 0;
    };

    /// Sleeps until the time has come, a descriptor is readable, or the bell has been rung. May return earlier.
    News sleep_until(Clock::time_point until) noexcept;
    /// Does not sleep.
    News look() noexcept;
    void ring() noexcept;
    /// `number` is up to the caller, below 2^63. Throws Error(unsupported) if the kernel cannot wait for it, or the
    /// process can have no more descriptors. One thread at a time calls it, and rings afterwards.
    void listen_to(int descriptor, std::uint64_t number);
    void forget(int descriptor) noexcept;
    /// In a child of fork(), which shares what it waits for with its parent: closes the child's copies.
    void abandon() noexcept;

  private:
    void make_descriptors();
    void add(int descriptor, std::uint64_t number);
    void silence() noexcept;
    News wait(int milliseconds) noexcept;

    std::mutex mutex_;
    std::condition_variable called_;
    bool is_called_ = false;  // under the mutex

    // True once the following are open.
    std::atomic<bool> listens_{false};
    Descriptor epoll_;
    Descriptor bell_;
    Descriptor timer_;
    Clock::time_point set_to_ = Clock::time_point::max();
};

}  // namespace sluice::kernel
