// SPDX-License-Identifier: BSD-3-Clause
/// The one helper thread of a rank, for jobs that must go on while the program computes. The thread is started with the
/// first job, and sleeps until the next job is due.
///
///     add ──> due ──> running ──> due again after what run() returns
///              └───────── remove waits for the end of running
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace sluice::kernel {

class HelperThread {
  public:
    using Clock = std::chrono::steady_clock;

    class Job {
      public:
        /// Called on the helper thread. Must not throw, and must not wait for long, because other jobs share the
        /// thread. Returns the time after which the job wants to run again.
        virtual Clock::duration run() noexcept = 0;

      protected:
        ~Job() = default;
    };

    HelperThread() = default;
    /// All jobs must have been removed.
    ~HelperThread();
    HelperThread(HelperThread const&) = delete;
    HelperThread& operator=(HelperThread const&) = delete;

    /// False if there are no threads: under the simulator many ranks are one process, and its time is not the clock's.
    static constexpr bool is_possible() noexcept {
#ifdef SLUICE_SIMULATED
        return false;
#else
        return true;
#endif
    }

    /// Adds a job, not owned, that is due at once. Throws Error(unsupported) if no thread can be made.
    void add(Job& job);
    /// After this returns, `job` does not run. A job must not call this.
    void remove(Job& job) noexcept;
    /// Makes the job due now.
    void wake(Job& job) noexcept;

  private:
    struct Entry {
        Job* job;
        Clock::time_point due;
    };
    void live();
    Entry* find(Job const& job) noexcept;

    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<Entry> entries_;
    Job const* running_ = nullptr;
    bool ends_ = false;
    std::thread thread_;
};

}  // namespace sluice::kernel
