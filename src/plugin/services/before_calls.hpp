// SPDX-License-Identifier: BSD-3-Clause
/// The services that act before each call of the program, in the order in which they registered.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>

#include "plugin/services/chain.hpp"
#include "plugin/watch/touched_memory.hpp"

namespace sluice::plugin {

class Call;
class Service;
struct Job;

/// A service may register and remove itself at any time, also while other threads are in calls: a call that has begun
/// may still reach a service that has just gone, so services live as long as the job.
class BeforeCalls {
  public:
    /// One load.
    bool empty() const noexcept { return count_.load(std::memory_order_acquire) == 0; }
    /// A service that is there already stays where it is.
    void add(Service& service) noexcept;
    void remove(Service const& service) noexcept;
    /// Before a call that is watched, outside MPI.
    void run(Call& call, TouchedBy const& touched) const;
    /// Before any other function of MPI, which may touch anything. `function`: its name, "MPI_Comm_rank".
    void run_unwatched(Job& job, char const* function) const;

  private:
    std::array<std::atomic<Service*>, k_most_links> services_{};
    std::atomic<std::size_t> count_{0};
};

}  // namespace sluice::plugin
