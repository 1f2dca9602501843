// SPDX-License-Identifier: BSD-3-Clause
/// The blocks of the world: counts those that each bin needs, reads a share of them, and compares a part of the curve
/// with the file.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>
#include <vector>

#include "block.hpp"
#include "coastline_file.hpp"
#include "world_curve.hpp"

namespace coastline {

/// Degrees of latitude; a bin belongs to the band if its southern edge does.
struct Band {
    double south = -90;
    double north = 90;
};

struct WorldCount {
    std::vector<std::uint32_t> blocks_of_bin;  ///< 0 outside the band
    std::uint64_t points = 0;
    std::uint64_t segments = 0;
};

/// Collective. Each rank counts an equal part of the bins, then all ranks get all counts.
WorldCount count_world(CoastlineFile& file, Band band, MPI_Comm comm);

/// Fills `blocks` with blocks `first`, `first` + 1, … of the world in file order; the remaining blocks become free.
void read_share(CoastlineFile& file, std::span<std::uint32_t const> blocks_of_bin, std::uint64_t first,
                std::span<Block> blocks);

struct Checked {
    std::uint64_t points = 0;
    std::uint64_t blocks = 0;
};

/// Reads the blocks of the curve from `first` on from the file again and compares every byte with `blocks`. Throws
/// std::runtime_error, which names the first block that is wrong.
Checked check_part(CoastlineFile& file, WorldCurve const& curve, std::uint64_t first, std::span<Block const> blocks);

}  // namespace coastline
