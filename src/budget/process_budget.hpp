// SPDX-License-Identifier: BSD-3-Clause
/// What this process may hold for communication now: its limit, the budget, and the object that lets the budget follow
/// the free memory of the node.
#pragma once

#include <cstdint>
#include <memory>

#include "budget/adaptation.hpp"
#include "kernel/helper_thread.hpp"
#include "sluice/budget.hpp"
#include "sluice/settings.hpp"

namespace sluice::budget {

/// One for each process: the library has it in an attribute of MPI_COMM_SELF (engine/process.hpp), the plugin in its
/// job. Under a simulator, whose ranks are threads of one process, the budget does not change.
class ProcessBudget {
  public:
    /// `helper_thread`: of the rank, for threshold events; if it is null, one is made.
    explicit ProcessBudget(Settings const& settings,
                           std::shared_ptr<kernel::HelperThread> const& helper_thread = nullptr);
    /// With Files::opened the process has no descriptor of it.
    ProcessBudget(Settings const& settings, Files files);

    Budget& budget() noexcept { return budget_; }
    Budget const& budget() const noexcept { return budget_; }
    MemoryLimit const& memory_limit() const noexcept { return limit_; }
    /// Lets the budget follow the free memory while a caller waits or moves data: once a millisecond, or sooner if the
    /// kernel tells of a change (Adaptation). About 30 ns if it is not due, 2 µs if it is. Thread-safe.
    void look_if_due() {
        if (adaptation_) adaptation_->look_if_due(budget_);
    }
    /// Looks now: for a caller whose lease was refused.
    void look() {
        if (adaptation_) adaptation_->look(budget_);
    }
    /// Looks, and returns the bytes that leases may still take. The processes of a ledger share them.
    Bytes room();
    /// A number that changes with each look.
    std::uint64_t looks() const noexcept { return adaptation_ ? adaptation_->looks() : 0; }
    /// For the end of a process: others of the node may hold what this one has claimed. No other thread may use the
    /// budget then.
    void leave_ledger() {
        if (adaptation_) adaptation_->leave_ledger();
    }
    /// Null under a simulator.
    Adaptation const* adaptation() const noexcept { return adaptation_.get(); }

  private:
    ProcessBudget(Settings const& settings, std::shared_ptr<Adaptation> adaptation);

    MemoryLimit limit_;
    std::shared_ptr<Adaptation> adaptation_;
    Budget budget_;
};

}  // namespace sluice::budget
