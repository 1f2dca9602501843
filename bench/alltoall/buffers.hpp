// SPDX-License-Identifier: BSD-3-Clause
/// What the benchmark `alltoall` exchanges: words that name sender, receiver and place, in two buffers.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "support/memory.hpp"

namespace sluice::bench {

/// The blocks of one side, one after the other.
struct BlockList {
    std::vector<std::int64_t> counts;  ///< words for each rank
    std::vector<std::int64_t> places;
    std::vector<int> narrow_counts;  ///< the same for MPI
    std::vector<int> narrow_places;
    std::int64_t words = 0;

    void add(std::int64_t count);
};

class Buffers {
  public:
    /// `is_varied`: blocks of 3/4, 1 and 5/4 times the bytes, which differ between pairs and directions; else all have
    /// `bytes`, a multiple of 8.
    Buffers(MPI_Comm comm, std::uint64_t bytes, bool is_varied);

    BlockList const& leaving() const noexcept { return leaving_; }
    BlockList const& coming() const noexcept { return coming_; }
    std::uint64_t const* from() const noexcept { return reinterpret_cast<std::uint64_t const*>(from_.data()); }
    std::uint64_t* to() const noexcept { return reinterpret_cast<std::uint64_t*>(to_.data()); }

    /// Gives the buffer that receives back to the kernel and takes another: its pages are not there yet.
    void make_fresh();
    /// Writes the words that leave, and clears what a former exchange left.
    void fill(bool clears);
    /// Returns the number of words that did not come.
    std::uint64_t wrong_words() const;
    /// Returns the bytes that this rank sends to others.
    std::uint64_t bytes_moved() const noexcept;

  private:
    int rank_;
    BlockList leaving_;
    BlockList coming_;
    Pages from_;
    Pages to_;
};

}  // namespace sluice::bench
