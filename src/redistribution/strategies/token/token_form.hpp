// SPDX-License-Identifier: BSD-3-Clause
/// Chooses which form of the token strategy moves blocks of one size, from values that are equal on all ranks. Ranks of
/// two nodes may take chain and pool at once: between nodes both send the same messages.
#pragma once

#include <cstdint>
#include <optional>

#include "redistribution/strategies/strategy.hpp"

namespace sluice::redistribution {

enum class TokenForm {
    chain,  ///< chain.hpp: each block is fetched by its receiver; needs the inverse map
    scan,   ///< relay.hpp, or scan.hpp in little staging: small blocks inside one node; needs the forward map
    pool,   ///< chain through places that the ranks of a node share (engine/transports/place.hpp)
};

/// True if the whole context is one node, its rings take a packet of one block, and indices fit into 32 bits.
bool scan_is_possible(MapFacts const& facts);

/// `may_share`: false if no places could be shared; then the form is not pool.
TokenForm token_form(MapFacts const& facts, std::uint64_t block_bytes, bool may_share = true);

/// For tests: while it lives, calls of this process take that form where it is possible, whatever pays. Nothing: the
/// form that pays. All ranks must have one alike.
class ForcedTokenForm {
  public:
    explicit ForcedTokenForm(std::optional<TokenForm> form) noexcept;
    ~ForcedTokenForm();
    ForcedTokenForm(ForcedTokenForm const&) = delete;
    ForcedTokenForm& operator=(ForcedTokenForm const&) = delete;
};

}  // namespace sluice::redistribution
