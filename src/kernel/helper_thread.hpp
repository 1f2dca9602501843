// SPDX-License-Identifier: BSD-3-Clause
/// The one helper thread of a rank: jobs that must go on while the program computes. It does not exist until the first
/// job is added, and sleeps until the next one is due.
///
///     add ──> due ──> running ──> due again after what run() says
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
        /// On the helper thread. Must not throw, and must not wait for long: other jobs share the thread. Returns after
        /// how long it wants to run again.
        virtual Clock::duration run() noexcept = 0;

      protected:
        ~Job() = default;
    };

    HelperThread() = default;
    /// All jobs must have been removed.
    ~HelperThread();
    HelperThread(HelperThread const&) = delete;
    HelperThread& operator=(HelperThread const&) = delete;

    /// False where there are no threads: under the simulator, many ranks are one process, and time is not the clock's.
    static constexpr bool is_possible() noexcept {
#ifdef SLUICE_SIMULATED
        return false;
#else
        return true;
#endif
    }

    /// `job` is not owned, and first due at once. Throws Error(unsupported) where no thread can be made.
    void add(Job& job);
    /// When this returns `job` does not run and will not. Not from a job.
    void remove(Job& job) noexcept;
    /// Due now.
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
