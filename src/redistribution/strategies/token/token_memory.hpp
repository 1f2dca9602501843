// SPDX-License-Identifier: BSD-3-Clause
/// Divides the staging of the token strategy. The result is equal on all ranks, because only agreed values go into it.
///
///      rings into this rank 1/4 | queues, lanes, message buffers 1/4 | spare slots and all fixed tables 1/2
///                                                                    | or places of form pool instead of spare slots
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/transports/place.hpp"
#include "engine/transports/transport.hpp"
#include "redistribution/strategies/token/chain.hpp"
#include "sluice/units.hpp"

namespace sluice::redistribution {

struct TokenMemory {
    Bytes rings;
    Bytes queues;    ///< bytes of the node transport
    Bytes messages;  ///< bytes of the message transport
    ChainMemory chain;
    std::size_t places;  ///< of form pool, half of them spares; below 2 there is no room for this form

    /// Bytes of the transports' tables: the cost of one open MPI request times the default of the setting, and the
    /// heads of rings and queues.
    static constexpr std::uint64_t k_tables = 12 << 10;
    static constexpr std::uint64_t k_tables_of_peer = 256;
    /// More bytes of places are slower: they do not stay in the caches between their writer and their reader.
    static constexpr std::uint64_t k_most_bytes_of_places = 512 << 10;

    /// `one_node`: no block crosses a network. Only the number of spares, which no other rank depends on, follows from
    /// `ranks_of_node`.
    static TokenMemory of(Bytes staging, std::uint64_t block_bytes, int ranks, int ranks_of_node, bool one_node) {
        // A block larger than its share moves in pieces, so that there are always enough spares to keep a pipeline
        // full. Inside a node a few are enough, and fewer passes copy less through spares; a network needs more of them
        // under way, but none so small that its latency shows.
        constexpr std::uint64_t k_least_on_network = 32 << 10;
        std::uint64_t const half = staging.count / 2;
        std::uint64_t const most = half / 4;
        std::uint64_t const share = one_node ? most : std::min(most, std::max(half / 32, k_least_on_network));
        std::uint64_t const piece = std::clamp<std::uint64_t>(share, 1, 1U << 30);
        ChainMemory chain{};
        chain.piece_bytes = std::min(block_bytes, piece);
        // A spare costs its bytes and its entries in the table of spares.
        std::uint64_t const cost = chain.piece_bytes + Spares::bytes_of(2 * 1024) / 1024;
        std::uint64_t const tables = k_tables + k_tables_of_peer * static_cast<std::uint64_t>(ranks_of_node);
        std::uint64_t const room = half - std::min(half, tables);
        chain.spares = static_cast<std::size_t>(std::clamp<std::uint64_t>(room / cost, 1, 8192));
        auto const places = static_cast<std::size_t>(std::min<std::uint64_t>(
            std::min(room, k_most_bytes_of_places) / (cost + engine::PlaceTransport::bytes_of_place()), 8192));
        chain.lanes = static_cast<std::size_t>(std::clamp(ranks, 1, 64));
        chain.lane_entries = static_cast<std::size_t>(
            std::clamp<std::uint64_t>(staging.count / 16 / (chain.lanes * sizeof(engine::Fetch)), 4, 1024));
        return {staging / 4, staging / 16, staging / 8, chain, places};
    }
};

}  // namespace sluice::redistribution
