// SPDX-License-Identifier: BSD-3-Clause
/// The helper thread of registration: turns the core's helper (memory/registration/helper.hpp) by the clock.
///
///     events within the last second ── looks for events every millisecond, and is exact about deadlines
///     none                          ── sleeps until the next deadline, or until an event wakes it
#pragma once

#include <atomic>
#include <mutex>

#include "kernel/helper_thread.hpp"
#include "memory/registration/helper.hpp"
#include "plugin/services/registration/ucx_registrar.hpp"

namespace sluice::plugin {

class Mapper final : private kernel::HelperThread::Job {
  public:
    using Clock = kernel::HelperThread::Clock;
    /// How often it looks: the main thread need not wake it for each message.
    static constexpr std::chrono::milliseconds k_pause{1};

    class Listener {
      public:
        /// On the helper thread: counters may have changed.
        virtual void published() noexcept = 0;

      protected:
        ~Listener() = default;
    };

    Mapper(memory::registration::Helper& helper, memory::registration::EventQueue const& events,
           UcxRegistrar& registrar, Listener& listener) noexcept
        : helper_(helper), events_(events), registrar_(registrar), listener_(listener) {}

    /// Throws Error(unsupported) without a thread.
    void start() { thread_.add(*this); }
    /// After this the helper is not turned any more.
    void stop() noexcept { thread_.remove(*this); }
    /// Waits until the helper is between two turns, and keeps it there.
    void pause() noexcept { turn_.lock(); }
    void go_on() noexcept { turn_.unlock(); }
    /// The main thread has put an event.
    void notice() noexcept {
        std::atomic_thread_fence(std::memory_order_seq_cst);
        if (sleeps_.load(std::memory_order_relaxed)) [[unlikely]]
            wake();
    }

  private:
    Clock::duration run() noexcept override;
    void wake() noexcept;
    void leave_processor_of_rank() noexcept;

    memory::registration::Helper& helper_;
    memory::registration::EventQueue const& events_;
    UcxRegistrar& registrar_;
    Listener& listener_;
    std::atomic<bool> sleeps_{false};
    Clock::time_point last_event_{};
    bool is_free_ = false;
    std::mutex turn_;
    kernel::HelperThread thread_;  // of the process's table: registering needs the descriptors of the device
};

}  // namespace sluice::plugin
