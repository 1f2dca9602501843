// SPDX-License-Identifier: BSD-3-Clause
/// One redistribution to try: the arrays, the map, and how it is asked for.
#pragma once

#include <rapidcheck.h>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

#include "sluice/redistribute.hpp"

namespace sluice::tests {

/// How the map is given to the library.
enum class Form : std::uint64_t {
    list,         ///< a destination for each block
    short_list,   ///< the free blocks at the end are left out
    computed,     ///< a function of index and bytes
    plan_reused,  ///< a Plan, applied to two arrays of different block sizes at once and then again
};

inline constexpr Transport k_transports[] = {Transport::automatic, Transport::ring, Transport::message};

struct MapCase {
    std::vector<std::uint64_t> slots;                            ///< of each rank
    std::vector<std::pair<std::uint64_t, std::uint64_t>> moves;  ///< (from, to), slots numbered through all ranks
    std::uint64_t block_bytes = 1;
    Form form = Form::list;
    std::uint64_t transport = 0;  ///< in k_transports
    std::uint64_t staging = 2 << 20;

    std::vector<std::uint64_t> encode() const;
    static MapCase decode(std::vector<std::uint64_t> const& words);

    /// Where slot number `global` lies.
    Destination address(std::uint64_t global) const;
    /// Number of the first slot of `rank`.
    std::uint64_t first_of(int rank) const;
    /// The destinations of that rank's blocks.
    std::vector<Destination> destinations(int rank) const;
    /// For each slot of that rank the number of the block that ends there, or k_nothing.
    std::vector<std::uint64_t> expected(int rank) const;
    /// Blocks that change their rank.
    std::uint64_t remote_blocks() const;
    /// Ranks that `rank` sends to or receives from, itself apart.
    std::uint64_t partners(int rank) const;

    static constexpr std::uint64_t k_nothing = ~std::uint64_t{0};
};

std::ostream& operator<<(std::ostream& out, MapCase const& map_case);

/// Random cases for that many ranks, shrinking towards few moves of small blocks. Arrays of different sizes, some
/// empty; from no free block to nothing but free blocks; random maps, maps to one partner, maps to all, maps that leave
/// blocks on their rank or where they are; 1 byte to 70,000 bytes a block.
/// At most `most_slots` slots on a rank.
rc::Gen<MapCase> any_map(int ranks, std::vector<Form> forms, std::uint64_t most_slots);

}  // namespace sluice::tests
