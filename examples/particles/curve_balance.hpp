// SPDX-License-Identifier: BSD-3-Clause
/// Equal shares of a Hilbert curve: decides which rank should hold which body, so that all ranks hold equally many and
/// each holds a compact region.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "bodies.hpp"

namespace particles {

/// Returns the first body, in the order of the curve, of each rank's share of `total` bodies; `rank` may be the number
/// of ranks.
constexpr std::uint64_t share_begin(std::uint64_t total, int rank, int ranks) {
    return total / static_cast<std::uint64_t>(ranks) * static_cast<std::uint64_t>(rank) +
           total % static_cast<std::uint64_t>(ranks) * static_cast<std::uint64_t>(rank) /
               static_cast<std::uint64_t>(ranks);
}

/// Collective. Returns the rank that each body of this rank goes to. Bodies are counted by cell of the curve, so that
/// each body gets its place in the order of all. Takes two counts for each of 4096 cells, and the result.
std::vector<int> balanced_along_curve(Bodies const& bodies, std::uint64_t total, MPI_Comm comm);

}  // namespace particles
