/// Which form of the token strategy moves blocks of one size: chosen from values that are equal on all ranks.
#pragma once

#include <cstdint>
#include <limits>

#include "engine/node.hpp"
#include "redistribute/strategies/token/settle.hpp"

namespace sluice::redistribution {

enum class TokenForm {
    chain,  ///< chain.hpp: each block is fetched by its receiver; needs the inverse map
    scan,   ///< scan.hpp: small blocks inside one node; needs the forward map
};

/// True where the whole context is one node with rings that take a packet of one block, and indices fit into 32 bits.
inline bool scan_is_possible(engine::Node const* node, int ranks, std::uint64_t most_slots) {
    return node != nullptr && node->has_rings() && node->size() == ranks &&
           node->largest_packet() >= 2 * Settling::k_most_bytes - 64 &&
           most_slots <= std::numeric_limits<std::uint32_t>::max();
}

inline TokenForm token_form(bool scan_possible, std::uint64_t block_bytes) {
    return scan_possible && block_bytes <= Settling::k_most_bytes ? TokenForm::scan : TokenForm::chain;
}

}  // namespace sluice::redistribution
