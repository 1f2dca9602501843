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
    virtual AlltoallReport by_sluice(Context& context) = 0;
    /// Exchanges by the MPI library's own call, with MPI_IN_PLACE.
    virtual void by_mpi() = 0;
    /// Writes words that name sender, receiver and place.
    virtual void fill() = 0;
    /// Returns the number of words that are not those of the peer or, in gaps, not this rank's own.
    virtual std::uint64_t wrong_words() const = 0;
    /// Returns the bytes that this rank exchanges in one call.
    virtual std::uint64_t bytes_moved() const = 0;
};

/// Returns "alltoall", "alltoallv" (counts of 3/4, 1 and 5/4 times the bytes, which differ between pairs), "alltoallw"
/// (the same with displacements in bytes) and "alltoallw_rows" (every other row of a matrix, rows of 512 bytes).
std::vector<std::string> exchange_names();
std::unique_ptr<Exchange> make_exchange(std::string const& name, MPI_Comm comm, std::uint64_t bytes_a_pair);

}  // namespace sluice::bench
