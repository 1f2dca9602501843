// SPDX-License-Identifier: BSD-3-Clause
/// The largest of all ranks, found while the caller does other things.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>

namespace sluice::groups {

/// In round k a rank sends what it knows to the rank 2^k after it (dissemination: D. Hensgen, R. Finkel and U. Manber,
/// 1988). A maximum may be taken twice, so any number of ranks is right. No rank knows the values before all have
/// begun, so it is a barrier, too. `tag` is used for nothing else on the communicator; one may follow another at once,
/// because the messages of each pair of ranks stay in order.
class NonblockingMaxima {
  public:
    using Values = std::array<std::uint64_t, 2>;

    /// Collective.
    NonblockingMaxima(MPI_Comm comm, int rank, int size, int tag, Values const& mine);
    ~NonblockingMaxima();
    NonblockingMaxima(NonblockingMaxima const&) = delete;
    NonblockingMaxima& operator=(NonblockingMaxima const&) = delete;
    /// Returns true once values() are those of all ranks; must be called until then.
    bool is_known();
    Values const& values() const noexcept { return values_; }

  private:
    void start_round();

    MPI_Comm comm_;
    int rank_;
    int size_;
    int tag_;
    int distance_ = 1;
    Values values_;
    Values in_{};
    Values out_{};
    MPI_Request receive_ = MPI_REQUEST_NULL;
    MPI_Request send_ = MPI_REQUEST_NULL;
};

}  // namespace sluice::groups
