// SPDX-License-Identifier: BSD-3-Clause
/// The services that this rank runs, from the choice in MPI_Init to the stop in MPI_Finalize.
///
///     each service:  wanted by this rank? ── prepare ── agreed by all ranks, if it needs them ──> start ── … ──> stop
///                     needs one thread, and some rank has several ──> leave_to_mpi ── … ──> stop
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plugin/services/service.hpp"

namespace sluice::plugin {

class RunningServices {
  public:
    /// Before MPI_Init: all services that there are.
    void offer(Services all) { offered_ = std::move(all); }
    /// The highest level that a wanted one asks for.
    int thread_level(Job const& job, Settings const& settings) const noexcept;

    /// Right before MPI_Init, to those that are wanted.
    void before_init(Job& job) noexcept;

    /// What this rank knows of the job before the ranks agree.
    struct Rank {
        bool all_run = false;    ///< all ranks run under Sluice
        bool one_thread = true;  ///< no thread of this rank's program calls MPI beside another
    };
    /// Settings, machines and thread levels may differ between ranks; what goes over the wire may not. So the ranks
    /// agree on these bits, each of which becomes the least that any rank has. The first is 1 if the rank has one
    /// thread; one for each service follows, 1 if the rank wants it and has prepared it.
    using Bits = std::vector<int>;
    /// Prepares what this rank wants. `refused` is told which services cannot run here, and why.
    using Refused = std::function<void(char const* service, std::string const& why)>;
    Bits prepare(Job& job, Rank rank, Refused const& refused);

    /// Keeps those that this rank can start. `mine` is what `prepare` gave; `agreed` is what the ranks agreed on, and
    /// is empty if they cannot agree because not all of them run under Sluice.
    void choose(Bits const& mine, Bits const& agreed);
    /// Starts what was chosen, in the order of the list.
    void start(Job& job) noexcept;
    /// In MPI_Finalize, those that need no other rank.
    void stop_alone(Job& job);
    /// The rest of them. The last one that started stops first. Then the requests that the services still own go to
    /// MPI, if it can be used.
    void stop(Job& job, Ending ending);
    /// In the process that the program forks, ahead of fork().
    void before_fork() noexcept;
    /// The same process, after fork().
    void after_fork() noexcept;
    /// In a child of fork().
    void in_child() noexcept;
    /// Whether a service of this name has started.
    bool runs(std::string_view name) const noexcept;
    /// No service that has started acts in other calls than those that several ranks make together (Needs).
    bool only_in_calls_of_many() const noexcept;
    /// Nothing was started.
    bool empty() const noexcept { return running_ == 0; }

  private:
    bool one_thread_ = true;  // no rank has MPI_THREAD_MULTIPLE
    Services offered_;
    Services chosen_;          // objects stay: peers may read memory of a service that has stopped
    std::size_t running_ = 0;  // the first of them
};

/// What services own and the program has freed is left to MPI, after all of them have stopped: of two services that own
/// requests, the first that stops must not give up those of the other.
void leave_owned_to_mpi(Job& job);

}  // namespace sluice::plugin
