// SPDX-License-Identifier: BSD-3-Clause
/// The first step of a collective call, in which a rank may wait long for ranks that have not entered the call.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace sluice::engine {

/// Each value becomes its maximum over all ranks. In round k a rank sends what it knows to the rank 2^k after it
/// (dissemination: D. Hensgen, R. Finkel and U. Manber, 1988): a maximum may be taken twice, so any number of ranks is
/// right. The messages are of one size, so calls that do not match do not harm each other.
class Meeting {
  public:
    static constexpr std::size_t k_most_values = 16;
    using Values = std::array<std::uint64_t, k_most_values>;
    /// Called now and then by a rank that waits.
    using Look = std::function<void()>;

    /// `rank` and `size` are those of `comm`.
    Meeting(MPI_Comm comm, int rank, int size) noexcept : comm_(comm), rank_(rank), size_(size) {}
    /// Collective.
    void most_of_all(Values& values, Look const& look) const;

  private:
    void wait(std::span<MPI_Request, 2> both, Look const& look) const;

    MPI_Comm comm_;
    int rank_;
    int size_;
};

}  // namespace sluice::engine
