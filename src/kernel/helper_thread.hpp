// SPDX-License-Identifier: BSD-3-Clause
/// The one helper thread of a rank, for jobs that must go on while the program computes. The thread is made with the
/// first job, and sleeps until a job is due.
///
///     add, wake, time, descriptor readable ──> due ──> running ──> due again after what run() returned
///                                               └───────── remove waits for the end of running
///
/// Of the jobs that are due, the one runs that has been due for longest. So a job that is due waits for at most one run
/// of each other job, however often the others want to run.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>

namespace sluice::kernel {

class HelperThread {
  public:
    using Clock = std::chrono::steady_clock;

    /// What a job has in addition to the thread-local variables of the program, which stand on the stack of a thread,
    /// too. Pages are taken when they are touched.
    static constexpr std::size_t k_stack_bytes = 256 * 1024;
    static constexpr Clock::duration k_until_woken = Clock::duration::max();

    class Job {
      public:
        /// Called on the helper thread. Must not throw, and must not wait for long, because other jobs share the
        /// thread. Returns the time after which the job wants to run again.
        virtual Clock::duration run() noexcept = 0;
        /// While this descriptor is readable the job is due; -1: none. Asked by add(); run() reads what has come. Only
        /// one job may have a descriptor, and keeps it open until it is removed. Once the other end of a pipe is closed
        /// and all is read, the job runs a last time for it. Asked again after each run, on the helper thread: a job
        /// that has what it waited for answers -1 from then on, and the descriptor no longer makes it due.
        virtual int descriptor() const noexcept { return -1; }

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

    /// Adds a job, not owned, that is due at once; wakes it if it has been added before. Throws Error(unsupported) if
    /// no thread can be made or the job's descriptor cannot be waited for.
    void add(Job& job);
    /// After this returns, `job` does not run. A job must not call this for itself.
    void remove(Job& job) noexcept;
    /// Makes the job due now.
    void wake(Job& job) noexcept;

    // In a child of fork() no job of the parent runs: there, remove() and wake() return at once, the first add() makes
    // a thread of the child's own, and the destructor ends only that one.

  private:
    class Loop;
    Loop* own() const noexcept;

    std::atomic<Loop*> loop_{nullptr};  // null before the first job
};

}  // namespace sluice::kernel
