// SPDX-License-Identifier: BSD-3-Clause
/// Chooses which form of the token strategy moves blocks of one size, from values that are equal on all ranks.
#pragma once

#include <cstdint>
#include <limits>

#include "node/node.hpp"

namespace sluice::redistribution {

enum class TokenForm {
    chain,  ///< chain.hpp: each block is fetched by its receiver; needs the inverse map
    scan,   ///< scan.hpp: small blocks inside one node; needs the forward map
};

/// For larger blocks a request costs less than the second copy of the scan; the limit would be much lower if every rank
/// had a processor and answered at once.
inline constexpr std::uint64_t k_most_bytes_to_scan = 255;
inline constexpr std::uint64_t k_most_bytes_to_scan_crowded = 2048;

/// True if the whole context is one node, its rings take a packet of one block, and indices fit into 32 bits.
inline bool scan_is_possible(node::Node const* node, int ranks, std::uint64_t most_slots) {
    return node != nullptr && node->has_rings() && node->size() == ranks &&
           node->largest_packet() >= 2 * k_most_bytes_to_scan_crowded - 64 &&
           most_slots <= std::numeric_limits<std::uint32_t>::max();
}

/// `scan_possible`: the result of scan_is_possible() for the same node.
inline TokenForm token_form(node::Node const* node, bool scan_possible, std::uint64_t block_bytes) {
    if (!scan_possible) return TokenForm::chain;
    std::uint64_t const most = node->is_crowded() ? k_most_bytes_to_scan_crowded : k_most_bytes_to_scan;
    return block_bytes <= most ? TokenForm::scan : TokenForm::chain;
}

}  // namespace sluice::redistribution
