// SPDX-License-Identifier: BSD-3-Clause
/// One redistribution to try: the arrays, the map, and the way in which it is requested.
#pragma once

#include <rapidcheck.h>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "redistribution/strategies/token/token_form.hpp"
#include "sluice/redistribute.hpp"

namespace sluice::tests {

/// The form in which the map is given to the library.
enum class Form : std::uint64_t {
    list,         ///< a destination for each block
    short_list,   ///< the free blocks at the end are left out
    computed,     ///< a function of a block's index and bytes
    plan_reused,  ///< a Plan, applied to two arrays of different block sizes in one call and then again
};

/// Whose memory the arrays lie in.
enum class Arrays : std::uint64_t {
    own,          ///< each in the memory of its rank
    shared,       ///< in memory that all ranks map
    shared_some,  ///< in such memory on ranks with an even number alone
};

/// Which form of strategy token is taken where it is possible; nothing: the one that pays.
inline constexpr std::optional<redistribution::TokenForm> k_token_forms[] = {
    std::nullopt, redistribution::TokenForm::pool, redistribution::TokenForm::chain};

inline constexpr Transport k_transports[] = {Transport::automatic, Transport::ring, Transport::message};

struct MapCase {
    std::vector<std::uint64_t> slots;                            ///< of each rank
    std::vector<std::pair<std::uint64_t, std::uint64_t>> moves;  ///< (from, to), slots numbered through all ranks
    std::uint64_t block_bytes = 1;
    Form form = Form::list;
    std::uint64_t transport = 0;  ///< an index into k_transports
    std::uint64_t staging = 2 << 20;
    Arrays arrays = Arrays::own;
    std::uint64_t token_form = 0;  ///< an index into k_token_forms

    std::vector<std::uint64_t> encode() const;
    static MapCase decode(std::vector<std::uint64_t> const& words);

    /// Returns the address of slot number `global`.
    Destination address(std::uint64_t global) const;
    /// Returns the number of the first slot of `rank`.
    std::uint64_t first_of(int rank) const;
    /// Returns the destinations of that rank's blocks.
    std::vector<Destination> destinations(int rank) const;
    /// Returns for each slot of that rank the number of the block that ends there, or k_nothing.
    std::vector<std::uint64_t> expected(int rank) const;
    /// Returns the number of blocks that change their rank.
    std::uint64_t remote_blocks() const;
    /// Returns the number of ranks that `rank` sends to or receives from, except itself.
    std::uint64_t partners(int rank) const;

    static constexpr std::uint64_t k_nothing = ~std::uint64_t{0};
};

std::ostream& operator<<(std::ostream& out, MapCase const& map_case);

/// Draws cases for `ranks` ranks that shrink towards few moves of small blocks. Arrays have different sizes, and some
/// are empty; from none to all of the blocks are free; there are random maps, maps to one partner, maps to all, and
/// maps that leave blocks on their rank or where they are. Blocks have 1 byte to 70,000 bytes. A rank has at most
/// `most_slots` slots.
rc::Gen<MapCase> any_map(int ranks, std::vector<Form> forms, std::uint64_t most_slots);

}  // namespace sluice::tests
