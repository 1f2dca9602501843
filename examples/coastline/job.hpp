// SPDX-License-Identifier: BSD-3-Clause
/// What there is to move, and where each block goes.
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

    /// Computed from the block itself, so that no rank keeps a list of destinations.
    sluice::Destination destination(std::span<std::byte const> block) const {
        BlockHead const head = head_of(block);
        if (head.points == 0) return sluice::free_block;
        std::uint64_t const position = curve.position(head.bin, head.sequence);
        return {static_cast<int>(position / slots), static_cast<std::int64_t>(position % slots)};
    }
};

/// Collective.
Job plan_job(Options const& options, MPI_Comm comm);

}  // namespace coastline
