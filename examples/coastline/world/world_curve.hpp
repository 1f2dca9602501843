// SPDX-License-Identifier: BSD-3-Clause
/// The map of the redistribution: blocks in the order of their bins on a Hilbert curve, cut into equal parts, one for
/// each rank.
///
/// The curve's square is twice as wide as the world is high, and bins are spread over its lower half evenly:
///
///     ┌─────────────────┐ 512
///     │    not used     │
///     ├────────┬────────┤ 256   north pole      the curve runs through the left quarter first, through the right one
///     │  east  │  west  │                       last; its jump between them, from the left edge to the right, is none
///     └────────┴────────┘ 0     south pole      on the globe: both edges are the meridian of Greenwich
///     0°      180°     360°
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace coastline {

/// Takes 12 bytes for each bin. There is no list of blocks: a block's place follows from its bin and its sequence
/// number.
class WorldCurve {
  public:
    /// `blocks_of_bin`: the counts of all ranks together; bins are listed row by row from the north, each row of
    /// `columns` bins from Greenwich eastward.
    WorldCurve(std::uint32_t columns, std::span<std::uint32_t const> blocks_of_bin);

    std::uint64_t blocks() const noexcept { return first_.back(); }

    /// Returns how many blocks precede block `sequence` of `bin` along the curve.
    std::uint64_t position(std::uint32_t bin, std::uint32_t sequence) const {
        return std::uint64_t{first_[place_of_bin_[bin]]} + sequence;
    }

    struct Key {
        std::uint32_t bin;
        std::uint32_t sequence;
    };
    /// Returns the block at `position`, the inverse of position(). Needs a search through the bins.
    Key at(std::uint64_t position) const;

  private:
    std::vector<std::uint32_t> place_of_bin_;  ///< the place of each bin along the curve
    std::vector<std::uint32_t> bin_at_;        ///< its inverse
    std::vector<std::uint32_t> first_;         ///< blocks before each place, and all of them at the end
};

}  // namespace coastline
