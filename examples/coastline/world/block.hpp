// SPDX-License-Identifier: BSD-3-Clause
/// A block has 4 KiB. It holds consecutive points of one bin, with a small table of the segments they belong to.
///
///     ┌──────┬─────────────────────────┬────────┬───────────────────┐
///     │ head │ points, 16 bytes each → │ zeroes │ ← parts, 12 bytes │
///     └──────┴─────────────────────────┴────────┴───────────────────┘
///
/// A block for each segment would waste five sixths of the memory: half of all segments have at most 11 points. A
/// segment that does not fit continues in the next block. Unused bytes are zero, so equal content means equal bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "coastline_file.hpp"

namespace coastline {

inline constexpr std::size_t k_block_bytes = 4096;

/// The head names the block: its bin and its place among the blocks of that bin. A block without points is free.
struct BlockHead {
    std::uint32_t bin = 0;
    std::uint32_t sequence = 0;
    std::uint32_t points = 0;
    std::uint32_t parts = 0;
};

/// A run of points of one segment.
struct Part {
    std::uint32_t segment = 0;      ///< number of the segment in the file
    std::uint32_t first_point = 0;  ///< number of its first point in the file
    std::uint16_t points = 0;
    std::uint16_t level = 0;
};

/// The array consists of objects of this type.
struct alignas(alignof(Point)) Block {
    std::byte bytes[k_block_bytes];
};

/// Cuts the segments of one bin into blocks and returns the parts that each block holds. Allocates the result.
std::vector<std::vector<Part>> cut_into_blocks(std::span<Segment const> segments);

/// Writes the block that holds `parts`, reading the points from `file`.
void fill(Block& block, std::uint32_t bin, std::uint32_t sequence, std::span<Part const> parts, CoastlineFile& file);

BlockHead head_of(std::span<std::byte const> block);
Part part_of(Block const& block, std::uint32_t number);
Point point_of(Block const& block, std::uint32_t number);

}  // namespace coastline
