// SPDX-License-Identifier: BSD-3-Clause
#include "redistribution/strategies/relay/relay.hpp"

#include <sched.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "node/sleep_unless.hpp"
#include "redistribution/strategies/token/scan_state.hpp"
#include "redistribution/strategies/token/waiting.hpp"

namespace sluice::redistribution {

namespace {

enum RelayKind : std::uint32_t {
    k_relay_blocks = 301,
    k_relay_ready = 302,  ///< the last packet: the rank has landed all its blocks
};

constexpr std::size_t k_relay_packet = 16384;
constexpr std::size_t k_cache_line = 64;
constexpr std::uint32_t k_slots_at_once = 256;  // slots looked at before peers are served
constexpr std::uint32_t k_most_credits = 1024;  // with more the blocks on their way leave the caches
constexpr std::uint32_t k_most_stored = 64;     // blocks for this rank, all of whose slots are in the cache

/// A packet: this, the passages, then the blocks from a cache line on.
struct PacketHead {
    std::uint32_t credits;    ///< given back to the receiver
    std::uint32_t blocks_at;  ///< bytes from the begin of the packet
};

/// Bytes of a packet of so many blocks, at most.
std::size_t bytes_of_packet(std::uint64_t blocks, std::uint64_t block_bytes) {
    return sizeof(PacketHead) + blocks * (sizeof(Passage) + block_bytes) + k_cache_line;
}

std::uint32_t blocks_of_packet(std::size_t bytes, std::uint64_t block_bytes) {
    std::size_t const room = bytes - std::min(bytes, bytes_of_packet(0, block_bytes));
    return static_cast<std::uint32_t>(std::max<std::size_t>(1, room / (sizeof(Passage) + block_bytes)));
}

}  // namespace

std::uint32_t Relay::credits_for(node::Node const& node, Bytes memory, std::uint64_t block_bytes,
                                 std::uint64_t most_slots) {
    auto const ranks = static_cast<std::uint64_t>(node.size());
    std::uint64_t const tables = ranks * (sizeof(Peer) + RelayStore::k_bytes_of_rank);
    std::uint64_t const places =
        (memory.count - std::min(memory.count, tables)) / RelayStore::bytes_of_place(block_bytes);
    if (places <= ranks) return 0;
    // More than fill half of the rings would only wait in stores.
    std::uint64_t const in_rings = (ranks - 1) * (node.largest_packet() / (sizeof(Passage) + block_bytes));
    std::uint64_t const useful =
        std::min(std::clamp<std::uint64_t>(in_rings, k_most_stored, k_most_credits), most_slots);
    return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(useful, 1, (places - 1) / ranks));
}

Relay::Relay(node::Node& node, std::uint64_t block_bytes, std::uint32_t credits, memory::Meter& meter)
    : node_(node),
      rank_(node.rank()),
      rings_(node.rings()),
      block_bytes_(block_bytes),
      packet_blocks_(blocks_of_packet(std::min(rings_.largest_body() / 2, k_relay_packet), block_bytes)),
      all_credits_(credits * static_cast<std::uint32_t>(node.size())),
      peers_(static_cast<std::size_t>(node.size()), Peer{}, memory::MeteredAllocator<Peer>(meter)),
      store_(all_credits_ + 1, node.size(), block_bytes, meter) {}

void Relay::run(std::byte* data, AddressMap& addresses, std::uint64_t live, std::uint64_t landing) {
    begin(data, addresses, live, landing);
    while (!has_landed_all())
        if (!progress()) wait();
    end_together();
}

void Relay::begin(std::byte* data, AddressMap& addresses, std::uint64_t live, std::uint64_t landing) {
    data_ = data;
    addresses_ = &addresses;
    cursor_ = 0;
    to_land_ = landing;
    credits_ = all_credits_ / static_cast<std::uint32_t>(node_.size());
    ready_peers_ = 0;
    std::fill(peers_.begin(), peers_.end(), Peer{});
    for (std::uint64_t slot = 0; live < addresses.size() && slot < addresses.size(); ++slot)
        if (addresses.is_nowhere(slot)) set_left(slot);
}

bool Relay::progress() {
    bool moved = start_some();
    moved |= land_stored();
    moved |= take_packets();
    moved |= send_stored();
    return moved;
}

/// Starts journeys at the next slots, as far as credits reach. A slot without a block that leaves counts as progress,
/// too: a rank that slept before a stretch of free slots would make others wait in vain.
bool Relay::start_some() {
    std::uint64_t const first = cursor_;
    std::uint64_t const stop = std::min(first + k_slots_at_once, addresses_->size());
    for (; cursor_ < stop; ++cursor_) {
        if (has_left(cursor_)) continue;
        if (credits_ == 0 || store_.count(rank_) >= k_most_stored) break;
        Destination const to = (*addresses_)[cursor_];
        if (static_cast<std::uint64_t>(to.index) == cursor_ && node_.local_of(to.rank) == rank_) {
            --to_land_;
        } else {
            --credits_;
            travel_on(cursor_, static_cast<std::uint32_t>(rank_));
        }
        set_left(cursor_);
    }
    return cursor_ > first;
}

/// Lands the blocks for this rank that are in its store, and those that they displace.
bool Relay::land_stored() {
    std::uint32_t landed = 0;
    for (; store_.count(rank_) > 0 && landed < k_slots_at_once; ++landed, ++copied_) {
        auto const [slot, starter] = store_.front(rank_);
        std::byte* const block = store_.front_block(rank_);
        if (has_left(slot)) {
            copy_block(at(slot), block, block_bytes_);
            end_journey(starter);
            store_.pop(rank_);
        } else if (Destination const to = (*addresses_)[slot]; node_.local_of(to.rank) == rank_) {
            swap_blocks(at(slot), block, block_bytes_);
            fetch(static_cast<std::uint64_t>(to.index));
            store_.turn(rank_, {static_cast<std::uint32_t>(to.index), starter});
        } else {
            travel_on(slot, starter);
            copy_block(at(slot), block, block_bytes_);
            store_.pop(rank_);
        }
        set_left(slot);
        --to_land_;
    }
    return landed > 0;
}

/// Sends what found its ring full.
bool Relay::send_stored() {
    bool sent = false;
    for (int local = 0; local < node_.size() && !store_.empty(); ++local) {
        if (local == rank_) continue;
        for (; store_.count(local) > 0 && send(local, store_.front(local), store_.front_block(local)); sent = true)
            store_.pop(local);
    }
    return sent;
}

bool Relay::take_packets() {
    bool moved = false;
    for (int step = 1; step < node_.size(); ++step)
        moved |= take_packets_of((rank_ + step) % node_.size());
    return moved;
}

bool Relay::take_packets_of(int local) {
    bool moved = false;
    while (!peer(local).is_ready) {
        node::Packet const packet = rings_.peek(local);
        if (!packet) break;
        PacketHead head{};
        std::memcpy(&head, packet.body.data(), sizeof head);
        credits_ += head.credits;
        if (packet.kind == k_relay_ready) {
            peer(local).is_ready = true;
            ++ready_peers_;
        } else {
            land_packet(packet.body, packet.count);
        }
        rings_.pop(local);
        moved = true;
    }
    return moved;
}

void Relay::land_packet(std::span<std::byte const> body, std::uint32_t count) {
    constexpr std::uint32_t k_ahead = 16;
    PacketHead head{};
    std::memcpy(&head, body.data(), sizeof head);
    auto const passage_of = [&](std::uint32_t i) {
        Passage passage{};
        std::memcpy(&passage, body.data() + sizeof head + i * sizeof passage, sizeof passage);
        return passage;
    };
    for (std::uint32_t i = 0; i < std::min(k_ahead, count); ++i)
        fetch(passage_of(i).slot);
    for (std::uint32_t i = 0; i < count; ++i) {
        if (i + k_ahead < count) fetch(passage_of(i + k_ahead).slot);
        land(passage_of(i), body.data() + head.blocks_at + i * block_bytes_);
    }
}

/// The block has come to its final slot.
void Relay::land(Passage passage, std::byte const* block) {
    if (has_left(passage.slot)) {
        end_journey(passage.starter);
    } else {
        travel_on(passage.slot, passage.starter);
        set_left(passage.slot);
    }
    copy_block(at(passage.slot), block, block_bytes_);
    --to_land_;
}

/// Copies the block in a slot into the ring to its rank, or into the store.
void Relay::travel_on(std::uint64_t slot, std::uint32_t starter) {
    Destination const to = (*addresses_)[slot];
    int const local = node_.local_of(to.rank);
    Passage const passage{static_cast<std::uint32_t>(to.index), starter};
    if (local == rank_)
        fetch(passage.slot);
    else if (store_.count(local) == 0 && send(local, passage, at(slot)))
        return;
    copy_block(store_.push(local, passage), at(slot), block_bytes_);
}

/// A credit goes back at once if much is owed; the rank might have no other packet for the starter for long.
void Relay::end_journey(std::uint32_t starter) noexcept {
    auto const local = static_cast<int>(starter);
    if (local == rank_) {
        ++credits_;
        return;
    }
    std::uint32_t const much = all_credits_ / static_cast<std::uint32_t>(node_.size()) / 4;
    if (++peer(local).owed > much) give_back(local);
}

bool Relay::send(int local, Passage passage, std::byte const* block) {
    constexpr std::uint64_t k_ahead = 10 * k_cache_line;
    Peer& to = peer(local);
    if (to.packet == nullptr && !open_packet(local)) return false;
    std::byte* const place = to.blocks + to.filled * block_bytes_;
    fetch_to_write(place + k_ahead);
    std::memcpy(to.packet + sizeof(PacketHead) + to.filled * sizeof passage, &passage, sizeof passage);
    copy_block(place, block, block_bytes_);
    if (++to.filled == packet_blocks_) flush(local);
    return true;
}

bool Relay::open_packet(int local) {
    Peer& to = peer(local);
    to.packet = rings_.reserve(local, bytes_of_packet(packet_blocks_, block_bytes_));
    if (to.packet == nullptr) return false;
    std::byte* const passages_end = to.packet + sizeof(PacketHead) + packet_blocks_ * sizeof(Passage);
    to.blocks =
        passages_end + (k_cache_line - reinterpret_cast<std::uintptr_t>(passages_end) % k_cache_line) % k_cache_line;
    to.filled = 0;
    return true;
}

void Relay::flush(int local) {
    Peer& to = peer(local);
    if (to.packet == nullptr) return;
    PacketHead const head{std::exchange(to.owed, 0), static_cast<std::uint32_t>(to.blocks - to.packet)};
    std::memcpy(to.packet, &head, sizeof head);
    rings_.commit(local, k_relay_blocks, to.filled, 0, head.blocks_at + to.filled * block_bytes_);
    to.packet = nullptr;
}

/// Gives back what is owed, with the blocks for that peer or alone; if its ring is full, later.
void Relay::give_back(int local) {
    Peer& to = peer(local);
    if (to.packet != nullptr) return flush(local);
    std::byte* const packet = rings_.reserve(local, sizeof(PacketHead));
    if (packet == nullptr) return;
    PacketHead const head{std::exchange(to.owed, 0), sizeof(PacketHead)};
    std::memcpy(packet, &head, sizeof head);
    rings_.commit(local, k_relay_blocks, 0, 0, sizeof head);
}

void Relay::flush_all() {
    for (int local = 0; local < node_.size(); ++local)
        if (peer(local).packet != nullptr || peer(local).owed > 0) give_back(local);
}

/// Nothing moved: publishes what others may wait for, then sleeps until another rank acts.
void Relay::wait() {
    flush_all();
    for (std::uint64_t yield = 0; yield < k_yields_before_sleep; ++yield) {
        if (progress()) return;
        sched_yield();
    }
    node::sleep_unless(rings_, [this] {
        flush_all();
        return progress();
    });
}

/// Each rank goes on taking packets until all have said that theirs were the last, so the rings are empty afterwards.
void Relay::end_together() {
    auto const act = [this] {
        bool const told = tell_ready();
        return take_packets() || told;
    };
    auto const is_over = [this] {
        return ready_peers_ == node_.size() - 1 && std::ranges::all_of(peers_, &Peer::told_ready);
    };
    peer(rank_).told_ready = true;
    while (!is_over()) {
        bool moved = act();
        for (std::uint64_t yield = 0; !moved && yield < k_yields_before_sleep; ++yield) {
            sched_yield();
            moved = act();
        }
        if (!moved) node::sleep_unless(rings_, act);
    }
}

/// Tells each peer whose ring has room; what it is owed goes with that.
bool Relay::tell_ready() {
    bool told = false;
    for (int local = 0; local < node_.size(); ++local) {
        Peer& to = peer(local);
        if (to.told_ready) continue;
        flush(local);
        std::byte* const packet = rings_.reserve(local, sizeof(PacketHead));
        if (packet == nullptr) continue;
        PacketHead const head{std::exchange(to.owed, 0), sizeof(PacketHead)};
        std::memcpy(packet, &head, sizeof head);
        rings_.commit(local, k_relay_ready, 0, 0, sizeof head);
        to.told_ready = told = true;
    }
    return told;
}

}  // namespace sluice::redistribution
