// SPDX-License-Identifier: BSD-3-Clause
/// Fetches inside a node, in one of two ways.
///
///   read    the receiver reads the owner's slots itself (one copy) and tells it which:           left {slots}   -->
///   ring    small pieces, or if reads are forbidden:    the owner gathers into the ring:         ask {slots}    -->
///           a stream of bytes in the order asked, cut anywhere                                   <--  bytes ...
///
/// Slots asked for are kept in a bounded queue for each peer, so a ring never waits for another ring and cannot block.
#pragma once

#include <sys/uio.h>

#include <cstdint>
#include <vector>

#include "base/counters.hpp"
#include "engine/transports/transport.hpp"
#include "memory/meter.hpp"
#include "node/node_rings.hpp"
#include "sluice/units.hpp"

namespace sluice::node {
class Node;
}

namespace sluice::engine {

class NodeTransport final : public NodeWay {
  public:
    /// `queues`: bytes for the queues of requested slots. `read_from`: the smallest piece that is read, because a read
    /// costs the kernel about as much as copying that many bytes; `read_bytes`: the most that one read fetches.
    /// Allocates all memory that it will ever need.
    NodeTransport(node::Node& node, Bytes queues, Bytes read_from, Bytes read_bytes, memory::Meter& meter,
                  base::Counters& counters);

    bool reaches(int peer) const override;
    void expose(std::byte* array) override;
    void begin_pass(Slots const& slots, std::uint64_t pass, FetchListener& listener) override;
    std::size_t room(int peer) override;
    void start(int peer, std::span<Fetch const> fetches) override;
    bool progress() override;
    void sleep() override;

  private:
    struct Peer {
        std::byte* array = nullptr;  // address in the peer's process
        bool readable = false;
        // Rings in asks_: slots the peer asked us for; places we asked for, in order.
        std::size_t asks_head = 0, asks = 0;
        std::size_t places_head = 0, places = 0;
        std::uint64_t sent_of_head = 0;      // bytes of the first asked slot already in the ring
        std::uint64_t received_of_head = 0;  // bytes of the first place already received
    };

    void start_reads(int local, std::span<Fetch const> fetches);
    void start_asking(int local, std::span<Fetch const> fetches);
    bool take_packets(int local);
    bool answer(int local);
    void take_bytes(Peer& peer, std::size_t local, std::span<std::byte const> bytes);
    bool reads_from(Peer const& peer) const noexcept { return peer.readable && slots_.piece_bytes >= read_from_; }

    node::Node& node_;
    node::NodeRings& rings_;
    Slots slots_;
    std::uint64_t pass_ = 0;
    FetchListener* listener_ = nullptr;
    std::size_t window_;
    std::size_t pieces_per_read_;
    std::uint64_t read_from_;
    std::uint64_t read_bytes_;
    memory::MeteredVector<Peer> peers_;
    memory::MeteredVector<std::uint64_t> asks_;
    memory::MeteredVector<std::uint64_t> places_;
    memory::MeteredVector<iovec> ours_;
    memory::MeteredVector<iovec> theirs_;
    base::Counter& read_calls_;
    base::Counter& read_blocks_;
    base::Counter& ring_blocks_;
    base::Counter& sleeps_;
};

}  // namespace sluice::engine
