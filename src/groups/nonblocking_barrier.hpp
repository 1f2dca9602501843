// SPDX-License-Identifier: BSD-3-Clause
/// A barrier that lets its caller do other things until all ranks have arrived.
#pragma once

#include <mpi.h>

namespace sluice::groups {

/// Made of messages (dissemination: in round k each rank hears from the one 2^k before it; D. Hensgen, R. Finkel and U.
/// Manber, 1988). `tag` must be used for nothing else on the communicator.
class BarrierOfMessages {
  public:
    /// Announces the arrival of the caller. Collective.
    BarrierOfMessages(MPI_Comm comm, int tag);
    BarrierOfMessages(BarrierOfMessages const&) = delete;
    BarrierOfMessages& operator=(BarrierOfMessages const&) = delete;
    /// Returns true once all ranks have arrived; must be called until then.
    bool is_passed();

  private:
    void start_round();
    MPI_Comm comm_;
    int tag_;
    int distance_ = 1;
    MPI_Request pending_[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
};

#ifdef SLUICE_SIMULATED

/// SMPI 3.32: its MPI_Ibarrier lets other ranks pass as soon as rank 0 has arrived.
using NonblockingBarrier = BarrierOfMessages;

#else

/// MPI_Ibarrier, with the interface of the other.
class NonblockingBarrier {
  public:
    NonblockingBarrier(MPI_Comm comm, int tag);
    NonblockingBarrier(NonblockingBarrier const&) = delete;
    NonblockingBarrier& operator=(NonblockingBarrier const&) = delete;
    bool is_passed();

  private:
    MPI_Request pending_ = MPI_REQUEST_NULL;
};

#endif

}  // namespace sluice::groups
