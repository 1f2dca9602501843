// SPDX-License-Identifier: BSD-3-Clause
/// Every block of a benchmark names its origin, so that a result can be checked without knowing the inverse map.
///
///     | origin: rank and index, mixed | the same plus 1 step | plus 2 steps | …      (64-bit words; bytes left over
///     repeat)
#pragma once

#include <cstdint>

#include "cases.hpp"
#include "sluice/redistribute.hpp"

namespace sluice::bench {

/// Writes the label of block (`rank`, i) into every slot i.
void write_labels(Blocks blocks, int rank);

/// Returns the number of slots that hold, byte for byte, a block whose destination in `map` is that slot. The sum over
/// all ranks is the number of live blocks exactly if every block has arrived: the map is injective, so no block is
/// counted twice.
std::uint64_t count_arrived(Blocks blocks, int rank, int ranks, Case const& map);

/// Returns the number of live blocks of `rank` in `map`.
std::uint64_t count_live(Case const& map, int rank);

}  // namespace sluice::bench
