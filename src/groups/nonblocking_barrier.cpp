// SPDX-License-Identifier: BSD-3-Clause
#include "groups/nonblocking_barrier.hpp"

#include "mpi/mpi.hpp"

namespace sluice::groups {

BarrierOfMessages::BarrierOfMessages(MPI_Comm comm, int tag) : comm_(comm), tag_(tag) {
    start_round();
}

void BarrierOfMessages::start_round() {
    int const size = mpi::size_of(comm_);
    if (distance_ >= size) return;
    int const rank = mpi::rank_in(comm_);
    mpi::check(MPI_Irecv(nullptr, 0, MPI_BYTE, (rank + size - distance_) % size, tag_, comm_, &pending_[0]),
               "MPI_Irecv");
    mpi::check(MPI_Isend(nullptr, 0, MPI_BYTE, (rank + distance_) % size, tag_, comm_, &pending_[1]), "MPI_Isend");
}

bool BarrierOfMessages::is_passed() {
    if (!mpi::is_complete(pending_[0]) || !mpi::is_complete(pending_[1])) return false;
    if (distance_ >= mpi::size_of(comm_)) return true;
    distance_ *= 2;
    start_round();
    return distance_ >= mpi::size_of(comm_);
}

#ifndef SLUICE_SIMULATED

NonblockingBarrier::NonblockingBarrier(MPI_Comm comm, int) {
    mpi::check(MPI_Ibarrier(comm, &pending_), "MPI_Ibarrier");
}

bool NonblockingBarrier::is_passed() {
    return mpi::is_complete(pending_);
}

#endif

}  // namespace sluice::groups
