// SPDX-License-Identifier: BSD-3-Clause
/// The code that people write today: pack by destination, MPI_Alltoallv, unpack. It needs twice the data in addition to
/// the array.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>

#include "sluice/redistribute.hpp"
#include "world/block.hpp"

namespace coastline {

/// Collective. Moves every block to its `destination`; returns the bytes of its two buffers. Throws std::bad_alloc if
/// one of them cannot be allocated.
std::uint64_t pack_exchange_unpack(MPI_Comm comm, std::span<Block> blocks,
                                   sluice::DestinationFunction const& destination);

}  // namespace coastline
