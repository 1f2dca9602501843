// SPDX-License-Identifier: BSD-3-Clause
#include "engine/transports/place.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "node/sleep_unless.hpp"

namespace sluice::engine {

namespace {

constexpr std::uint32_t k_ask_for_place = 4;       // NodeTransport has the kinds before
constexpr std::uint32_t k_answers_at_once = 16;    // blocks that are copied before the receiver may see them
constexpr std::uint32_t k_blocks_ahead = 3;        // whose first lines are fetched while another one is copied
constexpr std::uint64_t k_most_bytes_ahead = 512;  // the processor detects the stream of a longer block by itself

[[gnu::always_inline]] inline void fetch_lines(std::byte const* block, std::uint64_t bytes) noexcept {
    for (std::uint64_t line = 0; line < std::min(bytes, k_most_bytes_ahead); line += 64)
        __builtin_prefetch(block + line);
}

}  // namespace

PlaceTransport::PlaceTransport(node::Node& node, PlaceMemory& memory, std::size_t spares, memory::Meter& meter,
                               base::Counters& counters)
    : node_(node),
      rings_(node.rings()),
      memory_(memory),
      rank_(node.rank()),
      own_(memory.place(node.rank(), 0)),
      peers_(static_cast<std::size_t>(node.size()), Peer{}, memory::MeteredAllocator<Peer>(meter)),
      asked_(memory.shape().places, Asked{}, memory::MeteredAllocator<Asked>(meter)),
      pieces_(counters.named("node.place_pieces")),
      sleeps_(counters.named("node.sleeps")) {
    for (std::size_t place = asked_.size(); place-- > spares;)
        release(static_cast<std::uint32_t>(place));
}

void PlaceTransport::expose(std::byte*) {
    for (int local = 0; local < node_.size(); ++local) {
        Peer& peer = peers_[static_cast<std::size_t>(local)];
        peer.answered = memory_.answers(local, rank_).load(std::memory_order_relaxed);
        peer.landed = memory_.answers(rank_, local).load(std::memory_order_relaxed);
    }
    rings_.barrier();
}

void PlaceTransport::begin_pass(Slots const& slots, std::uint64_t pass, FetchListener& listener) {
    slots_ = slots;
    pass_ = pass;
    listener_ = &listener;
}

std::size_t PlaceTransport::room(int peer) {
    return std::min(rings_.room(node_.local_of(peer)) / sizeof(Ask), free_places_);
}

void PlaceTransport::release(std::uint32_t place) noexcept {
    asked_[place].next = std::exchange(free_, place);
    ++free_places_;
}

/// Returns the number of the spare that the content is to land in, or of a place that has been free.
std::uint32_t PlaceTransport::place_for(std::uint64_t slot) {
    std::byte const* const there = listener_->place_for(slot);
    std::uint64_t const place_bytes = memory_.shape().place_bytes;
    if (there >= own_ && there < own_ + asked_.size() * place_bytes)
        return static_cast<std::uint32_t>(static_cast<std::uint64_t>(there - own_) / place_bytes);
    --free_places_;
    return std::exchange(free_, asked_[free_].next);
}

void PlaceTransport::append(Peer& peer, std::uint32_t place, std::uint64_t for_slot) {
    asked_[place] = {for_slot, k_none};
    (peer.first == k_none ? peer.first : asked_[peer.last].next) = place;
    peer.last = place;
}

void PlaceTransport::start(int peer, std::span<Fetch const> fetches) {
    int const local = node_.local_of(peer);
    std::byte* const told = rings_.reserve(local, fetches.size() * sizeof(Ask));
    for (std::size_t i = 0; i < fetches.size(); ++i) {
        std::uint32_t const place = place_for(fetches[i].for_slot);
        append(peers_[static_cast<std::size_t>(local)], place, fetches[i].for_slot);
        Ask const ask{fetches[i].from, place};
        std::memcpy(told + i * sizeof ask, &ask, sizeof ask);
    }
    rings_.commit(local, k_ask_for_place, static_cast<std::uint32_t>(fetches.size()), pass_,
                  fetches.size() * sizeof(Ask));
}

bool PlaceTransport::answer(int local) {
    bool moved = false;
    while (node::Packet const packet = rings_.peek(local)) {
        if (packet.pass != pass_) break;  // a peer that is ahead does not wait for us
        moved = true;
        copy_out(local, peers_[static_cast<std::size_t>(local)], packet);
        rings_.pop(local);  // wakes the peer
    }
    return moved;
}

void PlaceTransport::copy_out(int local, Peer& peer, node::Packet const& packet) {
    auto const ask_at = [&packet](std::uint32_t i) {
        Ask ask{};
        std::memcpy(&ask, packet.body.data() + i * sizeof ask, sizeof ask);
        return ask;
    };
    for (std::uint32_t i = 0; i < packet.count; ++i) {
        if (i + k_blocks_ahead < packet.count)
            fetch_lines(slots_.at(ask_at(i + k_blocks_ahead).slot), slots_.piece_bytes);
        Ask const ask = ask_at(i);
        std::memcpy(memory_.place(local, ask.place), slots_.at(ask.slot), slots_.piece_bytes);
        ++peer.answered;
        if ((i + 1) % k_answers_at_once == 0 || i + 1 == packet.count)
            memory_.answers(local, rank_).store(peer.answered, std::memory_order_release);
    }
    for (std::uint32_t i = 0; i < packet.count; ++i)
        listener_->vacated(ask_at(i).slot);
}

bool PlaceTransport::land(int local) {
    Peer& peer = peers_[static_cast<std::size_t>(local)];
    std::uint64_t const answers = memory_.answers(rank_, local).load(std::memory_order_acquire);
    if (peer.landed == answers) return false;
    for (; peer.landed != answers; ++peer.landed) {
        std::uint32_t const place = peer.first;
        Asked const asked = asked_[place];
        peer.first = asked.next;
        if (asked.next != k_none) fetch_lines(slots_.at(asked_[asked.next].for_slot), slots_.piece_bytes);
        std::byte const* const content = memory_.place(rank_, place);
        if (std::byte* const there = listener_->place_for(asked.for_slot); there != content) {
            std::memcpy(there, content, slots_.piece_bytes);
            release(place);
        }
        pieces_.add();
        listener_->landed(asked.for_slot);
    }
    return true;
}

bool PlaceTransport::progress() {
    bool moved = false;
    for (int local = 0; local < node_.size(); ++local) {
        if (local == rank_) continue;
        moved |= answer(local);
        moved |= land(local);
    }
    return moved;
}

void PlaceTransport::sleep() {
    if (node::sleep_unless(rings_, [this] { return progress(); }) != node::Slept::found_work) sleeps_.add();
}

}  // namespace sluice::engine
