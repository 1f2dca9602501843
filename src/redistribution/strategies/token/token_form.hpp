// SPDX-License-Identifier: BSD-3-Clause
/// Which form of the token strategy moves blocks of one size: chosen from values that are equal on all ranks.
#pragma once

#include <cstdint>
#include <limits>

#include "node/node.hpp"

namespace sluice::redistribution {

enum class TokenForm {
    chain,  ///< chain.hpp: each block is fetched by its receiver; needs the inverse map
    scan,   ///< scan.hpp: small blocks inside one node; needs the forward map
};

/// Beyond, a request a block costs less than the second copy of the scan: much earlier where every rank has a processor
/// and answers at once.
inline constexpr std::uint64_t k_most_bytes_to_scan = 255;
inline constexpr std::uint64_t k_most_bytes_to_scan_crowded = 2048;

/// True where the whole context is one node with rings that take a packet of one block, and indices fit into 32 bits.
inline bool scan_is_possible(node::Node const* node, int ranks, std::uint64_t most_slots) {
    return node != nullptr && node->has_rings() && node->size() == ranks &&
           node->largest_packet() >= 2 * k_most_bytes_to_scan_crowded - 64 &&
           most_slots <= std::numeric_limits<std::uint32_t>::max();
}

/// `scan_possible`: as above, for the same node.
inline TokenForm token_form(node::Node const* node, bool scan_possible, std::uint64_t block_bytes) {
    if (!scan_possible) return TokenForm::chain;
    std::uint64_t const most = node->is_crowded() ? k_most_bytes_to_scan_crowded : k_most_bytes_to_scan;
    return block_bytes <= most ? TokenForm::scan : TokenForm::chain;
}

}  // namespace sluice::redistribution
