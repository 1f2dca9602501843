// SPDX-License-Identifier: BSD-3-Clause
/// Equal shares of a Hilbert curve: which rank should hold which body, so that all hold as many and each a compact
/// region.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "bodies.hpp"
#include "sluice/redistribute.hpp"

namespace particles {

/// First body, in the order of the curve, of each rank's share of `total` bodies; `rank` may be the number of ranks.
constexpr std::uint64_t share_begin(std::uint64_t total, int rank, int ranks) {
    return total / static_cast<std::uint64_t>(ranks) * static_cast<std::uint64_t>(rank) +
           total % static_cast<std::uint64_t>(ranks) * static_cast<std::uint64_t>(rank) /
               static_cast<std::uint64_t>(ranks);
}

/// Collective. Where each body here goes: bodies are counted by cell of the curve, and so each learns its place in the
/// order of all. Memory: two counts for each of 4096 cells, and the result.
std::vector<sluice::Destination> balanced_along_curve(Bodies const& bodies, std::uint64_t total, MPI_Comm comm);

}  // namespace particles
