// SPDX-License-Identifier: BSD-3-Clause
/// Scan: the token strategy for small blocks inside one node, for which a request would cost more than the block
/// itself, where the smallest staging has to do and has no room for a relay (relay.hpp).
///
///    slots of this rank              rings (bounded)         slots of the receiver
///   [ v v v | l | s . . . ]   -- packets, by receiver  -->    its place if vacant, else any vacant slot,
///           scan cursor                                       else a spare; settled at the end
///
/// Each rank scans its slots in order. It writes a block directly into the ring of its receiver, and the block's slot
/// is then vacant. Room in a ring is the token: a rank without room for one receiver goes on with blocks for others and
/// comes back. A receiver takes blocks only while it has a vacancy. The ranks cannot block each other: a rank with
/// K >= 1 spares that can take no further block still has at least K more blocks to send than to receive; summed over
/// all such ranks, that exceeds all blocks left to send to them (docs/proofs/scan.md has the whole argument).
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "memory/meter.hpp"
#include "memory/metered_bytes.hpp"
#include "node/node.hpp"
#include "node/node_rings.hpp"
#include "redistribution/address_map.hpp"
#include "redistribution/strategies/moving/step_clock.hpp"
#include "redistribution/strategies/token/scan_state.hpp"

namespace sluice::redistribution {

class Scan {
  public:
    /// All ranks of the context are on `node`, which has rings. Indices are below 2^32. `memory`: bytes of the spare
    /// slots and of the list of recently vacated slots; more of both lets ranks get further apart before one waits for
    /// another.
    Scan(node::Node& node, std::uint64_t block_bytes, Bytes memory, memory::Meter& meter);

    /// Moves all blocks. `addresses`: the destination of the block in each slot; nowhere marks a free slot, and all
    /// states are 0. This function overwrites it. `live`: the number of slots that are not free.
    void run(std::byte* data, AddressMap& addresses, std::uint64_t live, std::uint64_t incoming, std::uint64_t pass,
             StepClock& clock);

    /// Blocks copied inside this rank since the last call.
    std::uint64_t take_blocks_copied() noexcept { return std::exchange(copied_, 0); }

  private:
    struct Peer {
        std::byte* packet = nullptr;  ///< being filled, in the ring to the peer
        std::uint32_t filled = 0;
        std::uint32_t taken = 0;  ///< blocks already taken of the first packet from the peer
    };

    ScanState state(std::uint64_t slot) const noexcept { return static_cast<ScanState>(addresses_->state(slot)); }
    void set(std::uint64_t slot, ScanState state) noexcept {
        addresses_->set_state(slot, static_cast<unsigned>(state));
    }
    std::byte* at(std::uint64_t slot) const noexcept { return data_ + slot * block_bytes_; }

    /// Finding out whether a block's own place is vacant is a cache miss: it pays if the answer is often yes.
    bool many_vacant() const noexcept { return vacant_ > addresses_->size() / 16; }
    /// Whether no further block can be taken before one has left.
    bool is_full() const noexcept { return vacant_ == 0 && spare_indices_.size() == most_spares_; }
    bool scan_some();
    bool look_ahead(std::uint64_t slots);
    bool send(std::uint64_t slot, Destination const& to);
    void keep(std::uint64_t slot, std::uint64_t index);
    bool take_packets();
    std::uint32_t take_blocks(std::uint32_t first, std::uint32_t count, std::byte const* body);
    bool land(std::byte const* block, std::uint64_t index);
    void put(std::uint64_t slot, std::byte const* block, std::uint64_t index);
    void empty_spares();
    void vacate(std::uint64_t slot) noexcept;
    std::uint64_t take_vacant_slot() noexcept;
    void flush(int local);
    void flush_all();
    void wait();

    node::Node& node_;
    int rank_;
    node::NodeRings& rings_;
    std::uint64_t block_bytes_;
    std::uint32_t packet_blocks_;
    std::size_t most_spares_;
    memory::MeteredVector<Peer> peers_;
    memory::MeteredBytes spare_blocks_;
    memory::MeteredVector<std::uint64_t> spare_indices_;
    memory::MeteredVector<std::uint32_t>
        recent_;  // recently vacated slots, still in the cache; some may be occupied again

    std::byte* data_ = nullptr;
    AddressMap* addresses_ = nullptr;
    std::uint64_t pass_ = 0;
    std::uint64_t to_receive_ = 0;
    std::uint64_t scan_cursor_ = 0;
    std::uint64_t land_cursor_ = 0;
    std::uint64_t ahead_cursor_ = 0;
    std::size_t recent_count_ = 0;
    std::uint64_t vacant_ = 0;
    std::uint64_t copied_ = 0;
};

}  // namespace sluice::redistribution
