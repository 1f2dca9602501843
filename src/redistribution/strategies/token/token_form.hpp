// SPDX-License-Identifier: BSD-3-Clause
/// Chooses which form of the token strategy moves blocks of one size, from values that are equal on all ranks.
#pragma once

#include <cstdint>
#include <limits>

#include "node/node.hpp"
#include "redistribution/strategies/strategy.hpp"

namespace sluice::redistribution {

enum class TokenForm {
    chain,  ///< chain.hpp: each block is fetched by its receiver; needs the inverse map
    scan,   ///< relay.hpp, or scan.hpp in little staging: small blocks inside one node; needs the forward map
};

/// For larger blocks a request costs less than the second copy of the scan; the limit would be much lower if every rank
/// had a processor and answered at once.
inline constexpr std::uint64_t k_most_bytes_to_scan = 255;
inline constexpr std::uint64_t k_most_bytes_to_scan_crowded = 2048;

/// True if the whole context is one node, its rings take a packet of one block, and indices fit into 32 bits.
inline bool scan_is_possible(MapFacts const& facts) {
    node::Node const* const node = facts.node;
    return node != nullptr && node->has_rings() && node->size() == facts.ranks &&
           node->largest_packet() >= 2 * k_most_bytes_to_scan_crowded - 64 &&
           facts.most_slots <= std::numeric_limits<std::uint32_t>::max();
}

inline TokenForm token_form(MapFacts const& facts, std::uint64_t block_bytes) {
    if (!scan_is_possible(facts)) return TokenForm::chain;
    std::uint64_t const most = facts.node->is_crowded() ? k_most_bytes_to_scan_crowded : k_most_bytes_to_scan;
    return block_bytes <= most ? TokenForm::scan : TokenForm::chain;
}

}  // namespace sluice::redistribution
