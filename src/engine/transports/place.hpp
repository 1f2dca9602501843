// SPDX-License-Identifier: BSD-3-Clause
/// Pool: fetches inside a node through places that all its ranks map. Each block is copied twice, by its owner and by
/// its receiver, without a call of the kernel.
///
///     receiver                                          owner
///     takes a place ── ask {slot, place} (a ring) ──>   copies the slot into the place; the slot is vacant
///     lands the block <── answers + 1 (shared) ──────
///     the place is free
///
/// The first places are the listener's spares: content that it wants in one of them is copied straight there and lands
/// where it is. The other places take content for slots; one that is free is always found after a while, because their
/// blocks land as soon as they are there (docs/proofs/pool.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "base/counters.hpp"
#include "engine/transports/place_memory.hpp"
#include "engine/transports/transport.hpp"
#include "memory/meter.hpp"
#include "node/node.hpp"
#include "node/node_rings.hpp"

namespace sluice::engine {

class PlaceTransport final : public NodeWay {
  public:
    /// `spares`: how many of the first places the listener uses as it likes, fewer than all. Takes all memory that it
    /// will ever need: bytes_of(memory.shape(), …).
    PlaceTransport(node::Node& node, PlaceMemory& memory, std::size_t spares, memory::Meter& meter,
                   base::Counters& counters);

    bool reaches(int peer) const override { return node_.local_of(peer) >= 0; }
    void expose(std::byte* array) override;
    void begin_pass(Slots const& slots, std::uint64_t pass, FetchListener& listener) override;
    std::size_t room(int peer) override;
    void start(int peer, std::span<Fetch const> fetches) override;
    bool progress() override;
    void sleep() override;

    /// Returns the bytes that it allocates for a place.
    static constexpr std::uint64_t bytes_of_place() { return sizeof(Asked); }

  private:
    static constexpr std::uint32_t k_none = std::numeric_limits<std::uint32_t>::max();

    /// What a request says.
    struct Ask {
        std::uint64_t slot;
        std::uint64_t place;
    };
    /// A place: what is to land there, and the next one in the order of requests to the same owner. Or a free place,
    /// and the next free one.
    struct Asked {
        std::uint64_t for_slot = 0;
        std::uint32_t next = k_none;
    };
    struct Peer {
        std::uint64_t answered = 0;  ///< blocks that this rank has ever copied into places of the peer
        std::uint64_t landed = 0;    ///< blocks of the peer that have ever landed here
        std::uint32_t first = k_none;
        std::uint32_t last = k_none;
    };

    std::uint32_t place_for(std::uint64_t slot);
    void append(Peer& peer, std::uint32_t place, std::uint64_t for_slot);
    void release(std::uint32_t place) noexcept;
    bool answer(int local);
    void copy_out(int local, Peer& peer, node::Packet const& packet);
    bool land(int local);

    node::Node& node_;
    node::NodeRings& rings_;
    PlaceMemory& memory_;
    int rank_;
    std::byte* own_;  // the first place of this rank
    Slots slots_;
    std::uint64_t pass_ = 0;
    FetchListener* listener_ = nullptr;
    memory::MeteredVector<Peer> peers_;
    memory::MeteredVector<Asked> asked_;  // by place
    std::uint32_t free_ = k_none;
    std::size_t free_places_ = 0;
    base::Counter& pieces_;
    base::Counter& sleeps_;
};

}  // namespace sluice::engine
