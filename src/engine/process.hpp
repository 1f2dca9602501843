// SPDX-License-Identifier: BSD-3-Clause
/// What belongs to one rank of the job, shared by all its Contexts: the budget, and what lets it follow the memory that
/// is free. Under a simulator, whose ranks are threads of one process, the budget stays as it is at the beginning.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "budget/adaptation.hpp"
#include "kernel/helper_thread.hpp"
#include "sluice/budget.hpp"
#include "sluice/settings.hpp"

namespace sluice::engine {

/// Hangs as an attribute on MPI_COMM_SELF, so that two libraries in one program share it and many ranks can live in one
/// process under a simulator. Dies with the last Context that refers to it.
class Process {
  public:
    /// The Process of the calling rank; made from `settings` by the first who asks.
    static std::shared_ptr<Process> of_this_rank(Settings const& settings);
    /// The same, or nothing where nobody has asked yet or all who did are gone.
    static std::shared_ptr<Process> existing();

    explicit Process(Settings const& settings);
    Budget& budget() noexcept { return budget_; }
    MemoryLimit const& memory_limit() const noexcept { return limit_; }
    kernel::HelperThread& helper_thread() noexcept { return helper_thread_; }
    /// Lets the budget follow, once a millisecond, or sooner where the kernel tells of a change (Adaptation): for
    /// whoever waits or moves something. About 30 ns where it is not due, 2 µs where it is. Thread-safe.
    void look_if_due() {
        if (adaptation_) adaptation_->look_if_due(budget_);
    }
    /// The same now: where a lease was refused.
    void look() {
        if (adaptation_) adaptation_->look(budget_);
    }
    /// Changes with each look.
    std::uint64_t looks() const noexcept { return adaptation_ ? adaptation_->looks() : 0; }
    /// Null under a simulator.
    budget::Adaptation const* adaptation() const noexcept { return adaptation_.get(); }
    /// What all objects of madre.h on this rank hold: its MADRE_getMem names no object.
    std::atomic<std::uint64_t>& madre_bytes() noexcept { return madre_bytes_; }

  private:
    MemoryLimit limit_;
    std::shared_ptr<budget::Adaptation> adaptation_;
    Budget budget_;
    std::atomic<std::uint64_t> madre_bytes_{0};
    kernel::HelperThread helper_thread_;
};

}  // namespace sluice::engine
