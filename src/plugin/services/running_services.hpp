// SPDX-License-Identifier: BSD-3-Clause
/// The services that this rank runs, from the choice in MPI_Init to the stop in MPI_Finalize.
///
///     each service:  wanted by this rank? ── agreed by all ranks, if it needs them ──> start ── … ──> stop
///                     needs one thread, and some rank has several ──> leave_to_mpi ── … ──> stop
#pragma once

#include <memory>
#include <vector>

#include "plugin/services/service.hpp"

namespace sluice::plugin {

class RunningServices {
  public:
    /// Settings and thread levels may differ between ranks; what goes over the wire may not. So the ranks agree on
    /// these bits, each of which becomes the least that any rank has. The first is 1 if no thread of the rank calls MPI
    /// beside another; one for each service follows, 1 if the rank wants it.
    using Bits = std::vector<int>;
    static Bits wishes(Services const& all, Job const& job, bool one_thread);

    /// Keeps those of `all` that this rank can start. `mine` are its wishes; `agreed` is what the ranks agreed on, and
    /// is empty if they cannot agree because not all of them run under Sluice.
    void choose(Services all, Bits const& mine, Bits const& agreed);
    /// Starts what was chosen, in the order of the list. After a throw the rank watches nothing, and the ranks have to
    /// agree anew.
    void start(Job& job);
    /// The last one that started stops first.
    void stop(Job& job, Ending ending);
    /// A rank could not start what the ranks had agreed on: all ranks stop what needs all of them.
    void stop_those_of_all(Job& job);
    /// In a child of fork().
    void in_child() noexcept;
    /// Nothing was started.
    bool empty() const noexcept { return running_ == 0; }

  private:
    bool one_thread_ = true;   // no rank has MPI_THREAD_MULTIPLE
    Services chosen_;          // objects stay: peers may read memory of a service that has stopped
    std::size_t running_ = 0;  // the first of them
    Services given_up_;
};

}  // namespace sluice::plugin
