// SPDX-License-Identifier: BSD-3-Clause
/// The state of one rank of the job that all its Contexts share: its budget, and the
/// helper thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "budget/process_budget.hpp"
#include "kernel/helper_thread.hpp"
#include "node/shared/array_memory.hpp"
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

    Process(Settings const& settings, std::shared_ptr<node::ArrayMemory> arrays)
        : helper_thread_(std::make_shared<kernel::HelperThread>()),
          memory_(settings, helper_thread_),
          arrays_(std::move(arrays)) {}
    budget::ProcessBudget& memory() noexcept { return memory_; }
    kernel::HelperThread& helper_thread() noexcept { return *helper_thread_; }
    /// The arrays of sluice::allocate, which may outlive the Process; the next one takes them over.
    std::shared_ptr<node::ArrayMemory> const& arrays() const noexcept { return arrays_; }
    /// The memory of all objects of madre.h on this rank, because MADRE_getMem names no object.
    std::atomic<std::uint64_t>& madre_bytes() noexcept { return madre_bytes_; }

    /// True from the beginning of MPI_Finalize on. MPI must not be called any more then.
    bool mpi_has_ended() const noexcept { return mpi_has_ended_.load(std::memory_order_acquire); }
    /// A job of the helper thread calls MPI from now on; it first asks mpi_has_ended().
    void helper_will_call_mpi() noexcept { helper_calls_mpi_.store(true, std::memory_order_relaxed); }
    /// Called by MPI_Finalize. When it returns, no job of the helper thread is inside MPI.
    void end_mpi() noexcept;
    /// If MPI has ended, says on standard error that `object` of rank `rank` is destroyed too late; once.
    void tell_if_late(char const* object, int rank) noexcept;
    /// Says on standard error, once, that the limit of memory leaves nothing for communication.
    void tell_want_of_memory(int rank);

  private:
    std::shared_ptr<kernel::HelperThread> helper_thread_;  // the last lease may outlive the Process, and with it a job
    budget::ProcessBudget memory_;
    std::shared_ptr<node::ArrayMemory> arrays_;
    std::atomic<std::uint64_t> madre_bytes_{0};
    std::atomic<bool> mpi_has_ended_{false};
    std::atomic<bool> helper_calls_mpi_{false};
    std::atomic<bool> late_is_told_{false};
    std::atomic<bool> want_is_told_{false};
};

}  // namespace sluice::engine
