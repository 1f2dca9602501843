// SPDX-License-Identifier: BSD-3-Clause
/// The ranks of a context that share this node, their rings, and whether they can read each other's memory.
#pragma once

#include <mpi.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mpi/mpi.hpp"
#include "node/node_rings.hpp"
#include "node/remote_memory.hpp"
#include "sluice/budget.hpp"
#include "sluice/settings.hpp"

namespace sluice::node {

class Node {
  public:
    /// Collective over `comm`. `transport` is Settings::transport; `rings` is the number of bytes of the rings into one
    /// rank. If rings cannot be made, the node consists of this rank alone, on every rank of the node, and `why` gives
    /// the reason.
    Node(MPI_Comm comm, Transport transport, Bytes rings);

    int rank() const noexcept { return rank_; }
    int size() const noexcept { return static_cast<int>(ranks_.size()); }
    /// Returns the local rank of a rank of the context, or −1.
    int local_of(int rank) const noexcept {
        // If all ranks share one node, or fill node after node from rank 0, a rank of the first node is its own local
        // rank.
        return rank < size() && ranks_[static_cast<std::size_t>(rank)] == rank ? rank : search(rank);
    }
    int global_of(int local) const noexcept { return ranks_[static_cast<std::size_t>(local)]; }

    bool has_rings() const noexcept { return rings_ != nullptr; }
    NodeRings& rings() noexcept { return *rings_; }
    /// Bytes of the largest packet that fits into a ring; 0 without rings.
    std::size_t largest_packet() const noexcept { return rings_ ? rings_->largest_body() : 0; }
    bool can_read() const noexcept { return can_read_; }
    /// Whether the settings let ranks map each other's memory.
    bool may_map() const noexcept { return may_map_; }
    /// Whether the context has more ranks than processors, so that a rank that spins keeps a peer from running. The
    /// same on all ranks.
    bool is_crowded() const noexcept { return is_crowded_; }
    /// The memory of another rank of the node, reached for reading, if can_read().
    Remote const& memory_of(int local) const noexcept { return memories_[static_cast<std::size_t>(local)]; }
    MPI_Comm comm() const noexcept { return comm_.get(); }
    Bytes ring_setting() const noexcept { return ring_setting_; }
    /// "reads inside the node", "rings inside the node", or the reason why there are none.
    std::string const& why() const noexcept { return why_; }

  private:
    int search(int rank) const noexcept;
    bool reach_all();

    mpi::Communicator comm_;
    Bytes ring_setting_;
    int rank_ = 0;
    std::vector<int> ranks_;        // ranks of the context, ascending, indexed by local rank
    std::vector<Remote> memories_;  // indexed by local rank
    std::unique_ptr<NodeRings> rings_;
    bool can_read_ = false;
    bool may_map_ = false;
    bool is_crowded_ = false;
    std::string why_;
};

}  // namespace sluice::node
