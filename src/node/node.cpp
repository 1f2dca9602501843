// SPDX-License-Identifier: BSD-3-Clause
#include "node/node.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "groups/agree.hpp"
#include "sluice/error.hpp"

namespace sluice::node {

Node::Node(MPI_Comm comm, Transport transport, Bytes rings) : ring_setting_(rings), ranks_{mpi::rank_in(comm)} {
#ifdef SLUICE_SIMULATED
    why_ = "messages only (simulator)";
    (void)transport;
#else
    if (transport == Transport::message) {
        why_ = "messages only (setting)";
        return;
    }
    comm_ = mpi::Communicator::of_node(comm);
    int const size = mpi::size_of(comm_.get());
    if (size == 1) {
        why_ = "messages only (one rank on each node)";
        return;
    }
    try {
        rings_ = std::make_unique<NodeRings>(comm_.get(), rings);
    } catch (Error const& error) {
        if (error.code() != ErrorCode::unsupported) throw;
        why_ = std::string("messages only (") + error.what() + ")";
        return;
    }
    rank_ = rings_->rank();
    int const mine = ranks_.front();
    ranks_.resize(static_cast<std::size_t>(size));
    mpi::check(MPI_Allgather(&mine, 1, MPI_INT, ranks_.data(), 1, MPI_INT, comm_.get()), "MPI_Allgather");
    int const cores_suffice = sysconf(_SC_NPROCESSORS_ONLN) >= size ? 1 : 0;
    int on_all = 0;  // containers on one node may disagree
    mpi::check(MPI_Allreduce(&cores_suffice, &on_all, 1, MPI_INT, MPI_MIN, comm_.get()), "MPI_Allreduce");
    is_crowded_ = on_all == 0;
    may_map_ = transport == Transport::automatic;
    can_read_ = transport != Transport::ring && reach_all();
    if (can_read_)
        why_ = "reads of the peers' memory inside the node";
    else
        why_ = transport == Transport::ring ? "rings inside the node (setting)"
                                            : "rings inside the node (the kernel forbids reads)";
#endif
}

/// Collective over the node. Each rank reaches every other one's memory, once for all reads. Returns true if all could.
bool Node::reach_all() {
    RemoteMemory door(true);
    AccessCard const& mine = door.card();
    static_assert(sizeof mine <= decltype(rings_->board(0))::extent);
    std::memcpy(rings_->board(rank_).data(), &mine, sizeof mine);
    rings_->barrier();

    memories_.resize(ranks_.size());
    bool works = true;
    for (int local = 0; local < size() && works; ++local) {
        if (local == rank_) continue;
        AccessCard theirs;
        std::memcpy(&theirs, rings_->board(local).data(), sizeof theirs);
        Remote const memory = door.reach(local, theirs, Touch::read);
        memories_[static_cast<std::size_t>(local)] = memory;
        works = static_cast<bool>(memory);
    }
    return groups::all_true(comm_.get(), works);  // also keeps the door open until all have read its nonce
}

int Node::search(int rank) const noexcept {
    auto const at = std::lower_bound(ranks_.begin(), ranks_.end(), rank);
    return at != ranks_.end() && *at == rank ? static_cast<int>(at - ranks_.begin()) : -1;
}

}  // namespace sluice::node
