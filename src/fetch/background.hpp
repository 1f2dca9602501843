// SPDX-License-Identifier: BSD-3-Clause
/// Progress while the program computes: a job of the helper thread that looks at a store's communication when the
/// program has not done so for a while.
///
///     the program looks ──> the job sleeps longer, up to k_longest
///     it does not       ──> the job looks, and again soon while anything moves
#pragma once

#include <atomic>
#include <cstdint>

#include "kernel/helper_thread.hpp"

namespace sluice::fetch {

class Background final : public kernel::HelperThread::Job {
  public:
    class Looked {
      public:
        /// Advances what needs none of the program's code; returns true if something moved. Called on the helper
        /// thread.
        virtual bool look_in_background() noexcept = 0;

      protected:
        ~Looked() = default;
    };

    /// Looks at `looked` until this object is destroyed.
    Background(kernel::HelperThread& helper, Looked& looked);
    ~Background();
    Background(Background const&) = delete;
    Background& operator=(Background const&) = delete;

    /// Called on the program's thread when the program itself looks.
    void program_looks() noexcept {
        looks_.store(looks_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }
    std::uint64_t moved() const noexcept { return moved_.load(std::memory_order_relaxed); }

  private:
    kernel::HelperThread::Clock::duration run() noexcept override;

    kernel::HelperThread* helper_;
    Looked* looked_;
    std::atomic<std::uint64_t> looks_{0};
    std::atomic<std::uint64_t> moved_{0};
    std::uint64_t looks_seen_ = 0;
    kernel::HelperThread::Clock::duration pause_;
};

}  // namespace sluice::fetch
