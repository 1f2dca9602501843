// SPDX-License-Identifier: BSD-3-Clause
/// Relay: the token strategy for the smallest blocks inside one node. A block goes straight to its final slot and
/// changes places with the block there, which travels on; each block leaves its slot once and lands once.
///
///     rank 0   | a |   |   |         a starts: its slot is vacant
///                v ring
///     rank 1   |   | b |   |         a lands in the slot of b, and b travels on
///                    v ring
///     rank 2   |   |   | - |         b lands in a vacant slot: the journey is over, and its credit goes back to rank 0
///
/// A rank takes one of its credits for each journey that it starts. So the blocks on their way are never more than all
/// credits of all ranks, and a store of that size on each rank takes any block whose ring is full: a rank can always
/// take blocks from its rings, so no rank waits for another's vacancy (docs/proofs/relay.md).
///
/// Blocks for slots of the own rank travel through its store, so many slots are being fetched into the cache at once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "memory/meter.hpp"
#include "node/node.hpp"
#include "node/node_rings.hpp"
#include "redistribution/address_map.hpp"
#include "redistribution/strategies/moving/fetch_to_write.hpp"
#include "redistribution/strategies/relay/relay_store.hpp"

namespace sluice::redistribution {

class Relay {
  public:
    /// Credits of each rank, if the store and the table of peers have `memory` bytes; 0: not one for each. Equal on all
    /// ranks. `most_slots`: the largest local array.
    static std::uint32_t credits_for(node::Node const& node, Bytes memory, std::uint64_t block_bytes,
                                     std::uint64_t most_slots);

    /// All ranks of the context are on `node`, which has rings that take a packet of one block. Indices are below 2^32.
    /// `credits` is at least 1 and equal on all ranks. May throw std::bad_alloc.
    Relay(node::Node& node, std::uint64_t block_bytes, std::uint32_t credits, memory::Meter& meter);

    /// Collective; all ranks have finished their last move. Moves all blocks. `addresses`: the destination of the block
    /// in each slot; nowhere marks a free slot, and all states are 0. This function overwrites the states. `live`: the
    /// number of slots that are not free; `landing`: blocks that come to this rank or stay on it.
    void run(std::byte* data, AddressMap& addresses, std::uint64_t live, std::uint64_t landing);

    /// Blocks copied from slot to slot of this rank since the last call.
    std::uint64_t take_blocks_copied() noexcept { return std::exchange(copied_, 0); }

  private:
    enum class SlotState : unsigned {
        here = 0,  ///< holds a block that has to leave
        left = 1,  ///< vacant, or its final content has landed
    };
    struct Peer {
        std::byte* packet = nullptr;  ///< being filled, in the ring to the peer
        std::byte* blocks = nullptr;  ///< where its blocks begin
        std::uint32_t filled = 0;
        std::uint32_t owed = 0;  ///< credits to give back to the peer
        bool told_ready = false;
        bool is_ready = false;  ///< it has said so
    };

    Peer& peer(int local) noexcept { return peers_[static_cast<std::size_t>(local)]; }
    std::byte* at(std::uint64_t slot) const noexcept { return data_ + slot * block_bytes_; }
    bool has_left(std::uint64_t slot) const noexcept {
        return addresses_->state(slot) != static_cast<unsigned>(SlotState::here);
    }
    void set_left(std::uint64_t slot) noexcept { addresses_->set_state(slot, static_cast<unsigned>(SlotState::left)); }
    /// Forced inline because GCC 12 drops calls of functions that only prefetch.
    [[gnu::always_inline]] void fetch(std::uint64_t slot) const noexcept {
        addresses_->prefetch(slot);
        // The processor detects the stream of a longer block by itself.
        for (std::uint64_t line = 0; line < std::min<std::uint64_t>(block_bytes_, 256); line += 64)
            fetch_to_write(at(slot) + line);
        fetch_to_write(at(slot) + block_bytes_ - 1);  // arrays need not begin at a cache line
    }

    void begin(std::byte* data, AddressMap& addresses, std::uint64_t live, std::uint64_t landing);
    bool progress();
    bool start_some();
    bool land_stored();
    bool send_stored();
    bool take_packets();
    bool take_packets_of(int local);
    void land_packet(std::span<std::byte const> body, std::uint32_t count);
    void land(Passage passage, std::byte const* block);
    void travel_on(std::uint64_t slot, std::uint32_t starter);
    void end_journey(std::uint32_t starter) noexcept;
    bool send(int local, Passage passage, std::byte const* block);
    bool open_packet(int local);
    void flush(int local);
    void flush_all();
    void give_back(int local);
    bool has_landed_all() const noexcept { return cursor_ == addresses_->size() && to_land_ == 0 && store_.empty(); }
    void wait();
    void end_together();
    bool tell_ready();

    node::Node& node_;
    int rank_;  // on the node
    node::NodeRings& rings_;
    std::uint64_t block_bytes_;
    std::uint32_t packet_blocks_;
    std::uint32_t all_credits_;
    memory::MeteredVector<Peer> peers_;
    RelayStore store_;

    std::byte* data_ = nullptr;
    AddressMap* addresses_ = nullptr;
    std::uint64_t cursor_ = 0;  // the next slot to start at
    std::uint64_t to_land_ = 0;
    std::uint32_t credits_ = 0;
    int ready_peers_ = 0;
    std::uint64_t copied_ = 0;
};

}  // namespace sluice::redistribution
