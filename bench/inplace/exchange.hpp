// SPDX-License-Identifier: BSD-3-Clause
/// What the benchmark `inplace` exchanges: blocks in one buffer, for each of MPI's three calls.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sluice/collectives.hpp"

namespace sluice::bench {

class Exchange {
  public:
    virtual ~Exchange() = default;
    virtual collectives::InplaceReport by_sluice(Context& context) = 0;
    /// The MPI library's own, with MPI_IN_PLACE.
    virtual void by_mpi() = 0;
    /// Writes words that name sender, receiver and place.
    virtual void fill() = 0;
    /// Words that are not what the peer had for us, or in gaps not what we had.
    virtual std::uint64_t wrong_words() const = 0;
    /// Bytes that this rank exchanges in one call.
    virtual std::uint64_t bytes_moved() const = 0;
};

/// "alltoall", "alltoallv" (counts of 3/4, 1 and 5/4 times the bytes; none of the pairs alike), "alltoallw" (the same
/// with displacements in bytes) and "alltoallw_rows" (rows of 512 bytes, every other one of a matrix).
std::vector<std::string> exchange_names();
std::unique_ptr<Exchange> make_exchange(std::string const& name, MPI_Comm comm, std::uint64_t bytes_a_pair);

}  // namespace sluice::bench
