// SPDX-License-Identifier: BSD-3-Clause
/// The state of one rank of the job that all its Contexts share: the budget, and the object that lets it follow the
/// free memory. Under a simulator, whose ranks are threads of one process, the budget does not change.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "budget/adaptation.hpp"
#include "kernel/helper_thread.hpp"
#include "sluice/budget.hpp"
#include "sluice/settings.hpp"

namespace sluice::engine {

/// An attribute of MPI_COMM_SELF, so that two libraries in one program share it and many ranks can live in one process
/// under a simulator. It dies with the last Context that refers to it.
class Process {
  public:
    /// Returns the Process of the calling rank; the first caller makes it from `settings`.
    static std::shared_ptr<Process> of_this_rank(Settings const& settings);
    /// Returns the same, or null if no caller has made it yet or all its Contexts are gone.
    static std::shared_ptr<Process> existing();

    explicit Process(Settings const& settings);
    Budget& budget() noexcept { return budget_; }
    MemoryLimit const& memory_limit() const noexcept { return limit_; }
    kernel::HelperThread& helper_thread() noexcept { return *helper_thread_; }
    /// Lets the budget follow the free memory while a caller waits or moves data: once a millisecond, or sooner if the
    /// kernel tells of a change (Adaptation). About 30 ns if it is not due, 2 µs if it is. Thread-safe.
    void look_if_due() {
        if (adaptation_) adaptation_->look_if_due(budget_);
    }
    /// Looks now, for a caller whose lease was refused.
    void look() {
        if (adaptation_) adaptation_->look(budget_);
    }
    /// Looks, and returns the bytes that leases may still take. The processes of a ledger share them.
    Bytes room();
    /// A number that changes with each look.
    std::uint64_t looks() const noexcept { return adaptation_ ? adaptation_->looks() : 0; }
    /// Null under a simulator.
    budget::Adaptation const* adaptation() const noexcept { return adaptation_.get(); }
    /// The memory of all objects of madre.h on this rank, because MADRE_getMem names no object.
    std::atomic<std::uint64_t>& madre_bytes() noexcept { return madre_bytes_; }

  private:
    MemoryLimit limit_;
    std::shared_ptr<kernel::HelperThread> helper_thread_;  // the last lease may outlive the Process, and with it a job
    std::shared_ptr<budget::Adaptation> adaptation_;
    Budget budget_;
    std::atomic<std::uint64_t> madre_bytes_{0};
};

}  // namespace sluice::engine
