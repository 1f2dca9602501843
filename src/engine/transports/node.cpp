// SPDX-License-Identifier: BSD-3-Clause
#include "engine/transports/node.hpp"

#include <algorithm>
#include <cstring>

#include "node/node.hpp"
#include "node/sleep_unless.hpp"

namespace sluice::engine {

namespace {
enum PacketKind : std::uint32_t { k_left = 1, k_ask = 2, k_bytes = 3 };
constexpr std::size_t k_most_pieces = 512;  // pieces of one read; the kernel takes 1024
}  // namespace

NodeTransport::NodeTransport(node::Node& node, Bytes queues, Bytes read_from, Bytes read_bytes, memory::Meter& meter,
                             base::Counters& counters)
    : node_(node),
      rings_(node.rings()),
      window_(std::clamp<std::size_t>(
          queues.count / (2 * sizeof(std::uint64_t) * static_cast<std::size_t>(node.size())), 4, 2048)),
      pieces_per_read_(
          std::min({k_most_pieces, window_, std::max<std::size_t>(1, read_bytes.count / read_from.count)})),
      read_from_(read_from.count),
      read_bytes_(read_bytes.count),
      peers_(static_cast<std::size_t>(node.size()), Peer{}, memory::MeteredAllocator<Peer>(meter)),
      asks_(window_ * peers_.size(), 0, memory::MeteredAllocator<std::uint64_t>(meter)),
      places_(window_ * peers_.size(), 0, memory::MeteredAllocator<std::uint64_t>(meter)),
      ours_(pieces_per_read_, iovec{}, memory::MeteredAllocator<iovec>(meter)),
      theirs_(pieces_per_read_, iovec{}, memory::MeteredAllocator<iovec>(meter)),
      read_calls_(counters.named("node.read_calls")),
      read_blocks_(counters.named("node.read_pieces")),
      ring_blocks_(counters.named("node.ring_pieces")),
      sleeps_(counters.named("node.sleeps")) {}

bool NodeTransport::reaches(int peer) const {
    return node_.local_of(peer) >= 0;
}

void NodeTransport::expose(std::byte* array) {
    std::memcpy(rings_.board(rings_.rank()).data(), &array, sizeof array);
    rings_.barrier();
    for (std::size_t r = 0; r < peers_.size(); ++r) {
        std::memcpy(&peers_[r].array, rings_.board(static_cast<int>(r)).data(), sizeof array);
        peers_[r].readable = node_.can_read() && static_cast<int>(r) != node_.rank();
    }
}

void NodeTransport::begin_pass(Slots const& slots, std::uint64_t pass, FetchListener& listener) {
    slots_ = slots;
    pass_ = pass;
    listener_ = &listener;
}

std::size_t NodeTransport::room(int peer) {
    int const local = node_.local_of(peer);
    Peer const& there = peers_[static_cast<std::size_t>(local)];
    std::size_t const entries = rings_.room(local) / sizeof(std::uint64_t);
    if (reads_from(there))
        return std::min(entries, std::max<std::size_t>(
                                     1, std::min<std::size_t>(pieces_per_read_, read_bytes_ / slots_.piece_bytes)));
    return std::min(entries, window_ - there.places);
}

void NodeTransport::start(int peer, std::span<Fetch const> fetches) {
    int const local = node_.local_of(peer);
    if (reads_from(peers_[static_cast<std::size_t>(local)]))
        start_reads(local, fetches);
    else
        start_asking(local, fetches);
}

void NodeTransport::start_reads(int local, std::span<Fetch const> fetches) {
    Peer& there = peers_[static_cast<std::size_t>(local)];
    std::byte* const told = rings_.reserve(local, fetches.size() * sizeof(std::uint64_t));
    for (std::size_t i = 0; i < fetches.size(); ++i) {
        ours_[i] = {listener_->place_for(fetches[i].for_slot), slots_.piece_bytes};
        theirs_[i] = {there.array + fetches[i].from * slots_.block_bytes + slots_.offset, slots_.piece_bytes};
    }
    std::span<iovec> const ours(ours_.data(), fetches.size());
    std::span<iovec> const theirs(theirs_.data(), fetches.size());
    if (!node_.memory_of(local).read_pieces(ours, theirs)) {
        // Reads have failed during the run (memory of a device, a policy that changed): from now on the owner gathers.
        there.readable = false;
        start_asking(local, fetches);
        return;
    }
    for (std::size_t i = 0; i < fetches.size(); ++i)
        std::memcpy(told + i * sizeof(std::uint64_t), &fetches[i].from, sizeof(std::uint64_t));
    rings_.commit(local, k_left, static_cast<std::uint32_t>(fetches.size()), pass_,
                  fetches.size() * sizeof(std::uint64_t));
    read_calls_.add();
    read_blocks_.add(fetches.size());
    for (Fetch const& fetch : fetches)
        listener_->landed(fetch.for_slot);
}

void NodeTransport::start_asking(int local, std::span<Fetch const> fetches) {
    Peer& there = peers_[static_cast<std::size_t>(local)];
    std::uint64_t* const places = places_.data() + static_cast<std::size_t>(local) * window_;
    std::byte* const told = rings_.reserve(local, fetches.size() * sizeof(std::uint64_t));
    for (std::size_t i = 0; i < fetches.size(); ++i) {
        std::memcpy(told + i * sizeof(std::uint64_t), &fetches[i].from, sizeof(std::uint64_t));
        places[(there.places_head + there.places++) % window_] = fetches[i].for_slot;
    }
    rings_.commit(local, k_ask, static_cast<std::uint32_t>(fetches.size()), pass_,
                  fetches.size() * sizeof(std::uint64_t));
}

void NodeTransport::take_bytes(Peer& peer, std::size_t local, std::span<std::byte const> bytes) {
    std::uint64_t* const places = places_.data() + local * window_;
    while (!bytes.empty()) {
        std::uint64_t const place = places[peer.places_head];
        std::size_t const n = std::min<std::size_t>(bytes.size(), slots_.piece_bytes - peer.received_of_head);
        std::memcpy(listener_->place_for(place) + peer.received_of_head, bytes.data(), n);
        bytes = bytes.subspan(n);
        peer.received_of_head += n;
        if (peer.received_of_head < slots_.piece_bytes) return;
        peer.received_of_head = 0;
        peer.places_head = (peer.places_head + 1) % window_;
        --peer.places;
        ring_blocks_.add();
        listener_->landed(place);
    }
}

bool NodeTransport::take_packets(int local) {
    bool moved = false;
    Peer& peer = peers_[static_cast<std::size_t>(local)];
    while (node::Packet const packet = rings_.peek(local)) {
        if (packet.pass != pass_) break;  // a peer that is ahead does not wait for us
        moved = true;
        if (packet.kind == k_bytes) {
            take_bytes(peer, static_cast<std::size_t>(local), packet.body);
        } else if (packet.kind == k_ask) {
            std::uint64_t* const asks = asks_.data() + static_cast<std::size_t>(local) * window_;
            for (std::uint32_t i = 0; i < packet.count; ++i) {
                std::memcpy(&asks[(peer.asks_head + peer.asks++) % window_],
                            packet.body.data() + i * sizeof(std::uint64_t), sizeof(std::uint64_t));
            }
        } else {
            for (std::uint32_t i = 0; i < packet.count; ++i) {
                std::uint64_t slot = 0;
                std::memcpy(&slot, packet.body.data() + i * sizeof slot, sizeof slot);
                listener_->vacated(slot);
            }
        }
        rings_.pop(local);
    }
    return moved;
}

bool NodeTransport::answer(int local) {
    Peer& peer = peers_[static_cast<std::size_t>(local)];
    if (peer.asks == 0) return false;
    std::uint64_t* const asks = asks_.data() + static_cast<std::size_t>(local) * window_;
    std::size_t const wanted = peer.asks * slots_.piece_bytes - peer.sent_of_head;
    std::size_t const bytes = std::min({wanted, rings_.room(local), rings_.largest_body() / 2});
    if (bytes == 0 || (bytes < wanted && bytes < rings_.largest_body() / 4))
        return false;  // small parts are not worth a packet

    std::byte* const packet = rings_.reserve(local, bytes);
    std::size_t filled = 0;
    std::size_t const first = peer.asks_head;
    std::size_t whole = 0;
    while (filled < bytes) {
        std::uint64_t const slot = asks[peer.asks_head];
        __builtin_prefetch(slots_.at(asks[(peer.asks_head + 1) % window_]));
        std::size_t const n = std::min<std::size_t>(bytes - filled, slots_.piece_bytes - peer.sent_of_head);
        std::memcpy(packet + filled, slots_.at(slot) + peer.sent_of_head, n);
        filled += n;
        peer.sent_of_head += n;
        if (peer.sent_of_head < slots_.piece_bytes) break;
        peer.sent_of_head = 0;
        peer.asks_head = (peer.asks_head + 1) % window_;
        --peer.asks;
        ++whole;
    }
    rings_.commit(local, k_bytes, 0, pass_, bytes);
    for (std::size_t i = 0; i < whole; ++i)
        listener_->vacated(asks[(first + i) % window_]);
    return true;
}

bool NodeTransport::progress() {
    bool moved = false;
    for (int local = 0; local < node_.size(); ++local) {
        if (local == node_.rank()) continue;
        moved |= take_packets(local);
        moved |= answer(local);
    }
    return moved;
}

void NodeTransport::sleep() {
    if (node::sleep_unless(rings_, [this] { return progress(); }) != node::Slept::found_work) sleeps_.add();
}

}  // namespace sluice::engine
