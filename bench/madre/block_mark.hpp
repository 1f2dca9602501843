// SPDX-License-Identifier: BSD-3-Clause
/// Blocks that name their origin in every one of their words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "madre/experiment.hpp"

namespace sluice::bench {

/// Fills the block with words computed from its origin and their position.
void mark_block(std::span<std::byte> block, int rank, std::uint64_t index);

/// Returns how many blocks of the whole map are in their new place on `rank`, undamaged. `array` holds
/// experiment.blocks() blocks. Where block j of rank i should be is computed from the map of rank i, so that only the
/// map is trusted.
std::uint64_t check_arrivals(Experiment const& experiment, int rank, std::span<std::byte const> array,
                             std::uint64_t block_bytes);

}  // namespace sluice::bench
