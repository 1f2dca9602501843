// SPDX-License-Identifier: BSD-3-Clause
/// The blocks to move, and where each of them goes.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "options.hpp"
#include "sluice/redistribute.hpp"
#include "world/block.hpp"
#include "world/world_blocks.hpp"
#include "world/world_curve.hpp"

namespace coastline {

struct Job {
    WorldCount world;
    WorldCurve curve;
    std::uint64_t slots;  ///< on each rank

    /// The destination is computed from the block itself, so no rank keeps a list of destinations.
    sluice::Destination destination(std::span<std::byte const> block) const {
        BlockHead const head = head_of(block);
        if (head.points == 0) return sluice::free_block;
        std::uint64_t const position = curve.position(head.bin, head.sequence);
        return {static_cast<int>(position / slots), static_cast<std::int64_t>(position % slots)};
    }
};

/// Collective. Determines how many blocks each rank has and where they go.
Job plan_job(Options const& options, MPI_Comm comm);

}  // namespace coastline
