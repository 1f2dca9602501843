// SPDX-License-Identifier: BSD-3-Clause
/// The steps of the study of MPI's own memory, each with the objects that it makes in the MPI.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "probes/node_barrier.hpp"
#include "probes/process_memory.hpp"

namespace sluice::probes {

/// The memory of this process after each step. Room for all results is allocated and touched from the start.
class Snapshots {
  public:
    explicit Snapshots(NodeBarrier& barrier) : barrier_(barrier) { entries_.fill({}); }

    /// Reads while all processes of the job are idle: shared pages are divided among the processes that touched them.
    void take(char const* phase);

    struct Entry {
        char const* phase;
        ProcessMemory memory;
    };
    Entry const* begin() const { return entries_.data(); }
    Entry const* end() const { return entries_.data() + used_; }

  private:
    NodeBarrier& barrier_;
    std::array<Entry, 32> entries_;
    std::size_t used_ = 0;
};

/// An operation that this MPI refused, in its own words.
struct Refusal {
    std::string phase;
    std::string why;
};

/// Sums over all ranks, ten times, so that the buffers of every algorithm exist.
void reduce_over_all();

/// The messages of the application: written before anything is measured, so that they never count.
struct MessageBuffers {
    MessageBuffers() {
        out.fill(1);
        in.fill(1);
    }
    std::array<char, 65536> out;
    std::array<char, 65536> in;
};

/// Every rank exchanges messages with every other: one of 1 KiB, and one of 64 KiB, which takes the protocol of long
/// messages. Ranks that share cores take turns: in step d only ranks that are d apart talk.
void talk_with_everybody(MessageBuffers& mine);

/// Takes `communicators` duplicates of MPI_COMM_WORLD: communicator_warm (one made and freed), communicator_half,
/// communicator_all, communicator_used (a reduction on each), communicator_freed, communicator_trimmed. Before the
/// first and the last of them the heap's free pages are returned to the system: otherwise new objects would fill pages
/// that the process already holds, and seem to cost nothing.
void try_communicators(int communicators, Snapshots& snapshots);

/// The same for windows of `bytes` on each rank, all of them written: window_KIND_warm, window_KIND_all,
/// window_KIND_trimmed for KIND create, allocate and shared. Returns what the MPI refused.
std::vector<Refusal> try_windows(int windows, std::size_t bytes, Snapshots& snapshots);

}  // namespace sluice::probes
