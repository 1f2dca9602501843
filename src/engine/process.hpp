/// What belongs to one rank of the job, shared by all its Contexts: for now the budget.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "engine/helper_thread.hpp"
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
    HelperThread& helper_thread() noexcept { return helper_thread_; }
    /// What all objects of madre.h on this rank hold: its MADRE_getMem names no object.
    std::atomic<std::uint64_t>& madre_bytes() noexcept { return madre_bytes_; }

  private:
    MemoryLimit limit_;
    Budget budget_;
    std::atomic<std::uint64_t> madre_bytes_{0};
    HelperThread helper_thread_;
};

}  // namespace sluice::engine
