/// How the token strategy shares out its staging. Equal on all ranks: computed from agreed values alone.
///
///      rings into this rank 1/4 | queues, lanes, message buffers 1/4 | spare slots 1/2
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/transports/transport.hpp"
#include "redistribute/strategies/token/chain.hpp"
#include "sluice/units.hpp"

namespace sluice::redistribution {

struct TokenMemory {
    Bytes rings;
    Bytes queues;    ///< of the node transport
    Bytes messages;  ///< of the message transport
    ChainMemory chain;

    static TokenMemory of(Bytes staging, std::uint64_t block_bytes, int ranks) {
        // A block larger than its share moves as pieces, so that there are always spares enough to keep a pipeline
        // full.
        constexpr std::uint64_t k_least_spares = 16;
        std::uint64_t const spare_share = staging.count / 2;
        std::uint64_t const piece = std::clamp<std::uint64_t>(spare_share / k_least_spares, 1, 1U << 30);
        ChainMemory chain{};
        chain.piece_bytes = std::min(block_bytes, piece);
        // A spare costs its bytes and its entries in the table of spares.
        std::uint64_t const cost = chain.piece_bytes + Spares::bytes_of(2 * 1024) / 1024;
        chain.spares = static_cast<std::size_t>(std::clamp<std::uint64_t>(spare_share / cost, 1, 8192));
        chain.lanes = static_cast<std::size_t>(std::clamp(ranks, 1, 64));
        chain.lane_entries = static_cast<std::size_t>(
            std::clamp<std::uint64_t>(staging.count / 16 / (chain.lanes * sizeof(engine::Fetch)), 4, 1024));
        return {staging / 4, staging / 16, staging / 8, chain};
    }
};

}  // namespace sluice::redistribution
