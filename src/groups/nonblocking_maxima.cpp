// SPDX-License-Identifier: BSD-3-Clause
#include "groups/nonblocking_maxima.hpp"

#include <algorithm>

#include "mpi/mpi.hpp"

namespace sluice::groups {

NonblockingMaxima::NonblockingMaxima(MPI_Comm comm, int rank, int size, int tag, Values const& mine)
    : comm_(comm), rank_(rank), size_(size), tag_(tag), values_(mine) {
    start_round();
}

NonblockingMaxima::~NonblockingMaxima() {
    // Only if an MPI call failed. A send of so few bytes has left its buffer.
    if (receive_ != MPI_REQUEST_NULL) {
        MPI_Cancel(&receive_);
        MPI_Wait(&receive_, MPI_STATUS_IGNORE);
    }
    if (send_ != MPI_REQUEST_NULL) MPI_Request_free(&send_);
}

void NonblockingMaxima::start_round() {
    if (distance_ >= size_) return;
    constexpr int k_bytes = sizeof(Values);
    out_ = values_;
    mpi::check(MPI_Irecv(in_.data(), k_bytes, MPI_BYTE, (rank_ + size_ - distance_) % size_, tag_, comm_, &receive_),
               "MPI_Irecv");
    mpi::check(MPI_Isend(out_.data(), k_bytes, MPI_BYTE, (rank_ + distance_) % size_, tag_, comm_, &send_),
               "MPI_Isend");
}

bool NonblockingMaxima::is_known() {
    while (distance_ < size_) {
        if (!mpi::is_complete(receive_) || !mpi::is_complete(send_)) return false;
        for (std::size_t i = 0; i < values_.size(); ++i)
            values_[i] = std::max(values_[i], in_[i]);
        distance_ *= 2;
        start_round();
    }
    return true;
}

}  // namespace sluice::groups
