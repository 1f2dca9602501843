// SPDX-License-Identifier: BSD-3-Clause
/// The state of one rank of the job that all its Contexts share: its budget, and the
/// helper thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "budget/process_budget.hpp"
#include "kernel/helper_thread.hpp"
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

    explicit Process(Settings const& settings)
        : helper_thread_(std::make_shared<kernel::HelperThread>()), memory_(settings, helper_thread_) {}
    budget::ProcessBudget& memory() noexcept { return memory_; }
    kernel::HelperThread& helper_thread() noexcept { return *helper_thread_; }
    /// The memory of all objects of madre.h on this rank, because MADRE_getMem names no object.
    std::atomic<std::uint64_t>& madre_bytes() noexcept { return madre_bytes_; }

  private:
    std::shared_ptr<kernel::HelperThread> helper_thread_;  // the last lease may outlive the Process, and with it a job
    budget::ProcessBudget memory_;
    std::atomic<std::uint64_t> madre_bytes_{0};
};

}  // namespace sluice::engine
