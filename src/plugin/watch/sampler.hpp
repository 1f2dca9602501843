// SPDX-License-Identifier: BSD-3-Clause
/// Looks at the memory of the process every few milliseconds, and lets its budget follow. It calls no MPI function.
#pragma once

#include <cstdint>

#include "budget/process_budget.hpp"
#include "kernel/helper_thread.hpp"
#include "plugin/watch/watch.hpp"

namespace sluice::plugin {

/// A job of the helper thread from construction to destruction.
class Sampler final : public kernel::HelperThread::Job {
  public:
    Sampler(kernel::HelperThread& helper, Watch& watch, budget::ProcessBudget& memory);
    Sampler(Sampler const&) = delete;
    Sampler& operator=(Sampler const&) = delete;
    /// Takes a last sample.
    ~Sampler();

  private:
    kernel::HelperThread::Clock::duration run() noexcept override;
    void take();
    void look_at_own_pages();
    void keep_in_history(record::Sample const& sample);
    void share_out_segments(std::uint64_t now_us);
    void read_proportional();
    void read_pinned(std::uint64_t now_us);

    kernel::HelperThread& helper_;
    Watch& watch_;
    budget::ProcessBudget& memory_;
    std::uint64_t interval_us_ = 0;
    std::uint64_t next_proportional_us_ = 0;
    std::uint64_t soonest_proportional_us_ = 0;
    std::uint64_t proportional_interval_us_ = 0;
    std::uint64_t next_own_us_ = 0;
    std::uint64_t next_pinned_us_ = 0;
    std::uint32_t pinned_ = 0;
};

}  // namespace sluice::plugin
