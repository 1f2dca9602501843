// SPDX-License-Identifier: BSD-3-Clause
#include "redistribution/strategies/token/scan.hpp"

#include <sched.h>

#include <algorithm>
#include <cstring>

#include "node/sleep_unless.hpp"
#include "redistribution/strategies/token/settle.hpp"
#include "redistribution/strategies/token/waiting.hpp"

namespace sluice::redistribution {

namespace {

constexpr std::uint32_t k_packet_kind = 201;
constexpr std::uint64_t k_slots_a_turn = 1024;  // slots looked at before peers are served
constexpr std::size_t k_packet_bytes = 16384;
constexpr std::uint64_t k_look_ahead = 65536;  // slots

// A packet: 32-bit indices of `packet_blocks_` blocks, then the blocks; both parts start aligned.
std::size_t index_bytes(std::uint32_t blocks) {
    return (blocks * sizeof(std::uint32_t) + 63) / 64 * 64;
}

}  // namespace

Scan::Scan(node::Node& node, std::uint64_t block_bytes, Bytes memory, memory::Meter& meter)
    : node_(node),
      rank_(node.global_of(node.rank())),
      rings_(node.rings()),
      block_bytes_(block_bytes),
      packet_blocks_(static_cast<std::uint32_t>(std::max<std::size_t>(
          1, (std::min(rings_.largest_body() / 2, k_packet_bytes) - 64) / (block_bytes + sizeof(std::uint32_t))))),
      most_spares_(static_cast<std::size_t>(
          std::clamp<std::uint64_t>(memory.count * 3 / 4 / (block_bytes + sizeof(std::uint64_t)), 1, 32768))),
      peers_(static_cast<std::size_t>(node.size()), Peer{}, memory::MeteredAllocator<Peer>(meter)),
      spare_blocks_(most_spares_ * block_bytes, meter),
      spare_indices_(memory::MeteredAllocator<std::uint64_t>(meter)),
      recent_(static_cast<std::size_t>(std::max<std::uint64_t>(16, memory.count / 4 / sizeof(std::uint32_t))), 0,
              memory::MeteredAllocator<std::uint32_t>(meter)) {
    spare_indices_.reserve(most_spares_);
}

void Scan::run(std::byte* data, AddressMap& addresses, std::uint64_t live, std::uint64_t incoming, std::uint64_t pass,
               StepClock& clock) {
    data_ = data;
    addresses_ = &addresses;
    pass_ = pass;
    to_receive_ = incoming;
    scan_cursor_ = land_cursor_ = ahead_cursor_ = 0;
    recent_count_ = 0;
    vacant_ = 0;
    // All states are "leaving" at first.
    for (std::uint64_t slot = 0; live < addresses.size() && slot < addresses.size(); ++slot)
        if (addresses.is_nowhere(slot)) {
            set(slot, ScanState::vacant);
            ++vacant_;
        }
    while (to_receive_ > 0 || scan_cursor_ < addresses.size()) {
        bool moved = scan_some();
        if (scan_cursor_ == addresses.size()) flush_all();
        moved |= take_packets();
        if (!moved) wait();
    }
    flush_all();
    clock.step("scan");
    empty_spares();
    Settling settling(data_, block_bytes_, addresses, {spare_blocks_.data(), most_spares_ * block_bytes_});
    copied_ += settling.run();
    clock.step("settle");
}

/// All blocks have arrived, so there is a vacant slot for each block in a spare. Blocks go to any vacant slot rather
/// than their own: putting each in its place now would visit most of the array at random, before settling does it in
/// order.
void Scan::empty_spares() {
    for (std::size_t spare = 0; spare < spare_indices_.size(); ++spare)
        put(take_vacant_slot(), spare_blocks_.data() + spare * block_bytes_, spare_indices_[spare]);
    spare_indices_.clear();
}

/// Continues the scan for a while; returns false if it could not pass a single slot. A slot without a block counts as
/// progress too: a rank that slept before a stretch of free slots would make others wait in vain.
bool Scan::scan_some() {
    std::uint64_t const start = scan_cursor_;
    std::uint64_t const stop = std::min(start + k_slots_a_turn, addresses_->size());
    for (; scan_cursor_ < stop; ++scan_cursor_) {
        if (state(scan_cursor_) != ScanState::leaving) continue;
        Destination const to = (*addresses_)[scan_cursor_];
        if (to.rank == rank_)
            keep(scan_cursor_, static_cast<std::uint64_t>(to.index));
        else if (!send(scan_cursor_, to))
            break;
    }
    return scan_cursor_ > start || (is_full() && look_ahead(k_slots_a_turn));
}

/// The receiver of the block at the cursor has no room, perhaps because it waits for blocks after the cursor. So this
/// sends blocks for other ranks from the next `slots` slots, continuing its last look. Without it ranks could block
/// each other for ever.
bool Scan::look_ahead(std::uint64_t slots) {
    bool sent = false;
    std::uint64_t const left = addresses_->size() - scan_cursor_;
    for (std::uint64_t looked = 0; looked < std::min(slots, left); ++looked, ++ahead_cursor_) {
        if (ahead_cursor_ < scan_cursor_ || ahead_cursor_ >= addresses_->size()) ahead_cursor_ = scan_cursor_;
        if (state(ahead_cursor_) != ScanState::leaving) continue;
        Destination const to = (*addresses_)[ahead_cursor_];
        if (to.rank != rank_ && send(ahead_cursor_, to)) sent = true;
    }
    return sent;
}

bool Scan::send(std::uint64_t slot, Destination const& to) {
    int const local = node_.local_of(to.rank);
    Peer& peer = peers_[static_cast<std::size_t>(local)];
    if (peer.packet == nullptr) {
        peer.packet = rings_.reserve(local, index_bytes(packet_blocks_) + packet_blocks_ * block_bytes_);
        if (peer.packet == nullptr) return false;
        peer.filled = 0;
    }
    auto const index = static_cast<std::uint32_t>(to.index);
    std::memcpy(peer.packet + peer.filled * sizeof index, &index, sizeof index);
    copy_block(peer.packet + index_bytes(packet_blocks_) + peer.filled * block_bytes_, at(slot), block_bytes_);
    if (++peer.filled == packet_blocks_) flush(local);
    vacate(slot);
    return true;
}

/// The block stays on this rank: it goes to its place if that is vacant, otherwise it waits where it is.
void Scan::keep(std::uint64_t slot, std::uint64_t index) {
    if (index != slot && many_vacant() && state(index) == ScanState::vacant) {
        copy_block(at(index), at(slot), block_bytes_);
        ++copied_;
        addresses_->set(index, {0, static_cast<std::int64_t>(index)});
        set(index, ScanState::landed);
        --vacant_;
        vacate(slot);
    } else {
        set(slot, ScanState::landed);
    }
}

bool Scan::take_packets() {
    bool moved = false;
    for (int local = 0; local < node_.size(); ++local) {
        if (local == node_.rank()) continue;
        Peer& peer = peers_[static_cast<std::size_t>(local)];
        while (node::Packet const packet = rings_.peek(local)) {
            if (packet.pass != pass_) break;  // from a peer that is one pass ahead
            std::uint32_t const taken = take_blocks(peer.taken, packet.count, packet.body.data());
            moved |= taken > peer.taken;
            peer.taken = taken;
            if (taken < packet.count) break;  // no vacant slot is left
            peer.taken = 0;
            rings_.pop(local);
        }
    }
    return moved;
}

/// Puts blocks [first, count) of a packet into slots; returns the first that found no vacant slot.
std::uint32_t Scan::take_blocks(std::uint32_t first, std::uint32_t count, std::byte const* body) {
    constexpr std::uint32_t k_ahead = 8;
    std::byte const* const blocks = body + index_bytes(packet_blocks_);
    auto const index_of = [body](std::uint32_t i) {
        std::uint32_t index = 0;
        std::memcpy(&index, body + i * sizeof index, sizeof index);
        return index;
    };
    for (std::uint32_t i = first; i < count; ++i) {
        if (many_vacant() && i + 2 * k_ahead < count) addresses_->prefetch(index_of(i + 2 * k_ahead));
        if (many_vacant() && i + k_ahead < count) __builtin_prefetch(at(index_of(i + k_ahead)), 1);
        if (!land(blocks + i * block_bytes_, index_of(i))) return i;
        --to_receive_;
    }
    return count;
}

bool Scan::land(std::byte const* block, std::uint64_t index) {
    std::uint64_t slot = index;
    if (!many_vacant() || state(index) != ScanState::vacant) {
        if (vacant_ == 0) {
            if (spare_indices_.size() == most_spares_) return false;
            copy_block(spare_blocks_.data() + spare_indices_.size() * block_bytes_, block, block_bytes_);
            spare_indices_.push_back(index);
            return true;
        }
        slot = take_vacant_slot();
    }
    put(slot, block, index);
    return true;
}

void Scan::put(std::uint64_t slot, std::byte const* block, std::uint64_t index) {
    copy_block(at(slot), block, block_bytes_);
    addresses_->set(slot, {0, static_cast<std::int64_t>(index)});
    set(slot, ScanState::landed);
    --vacant_;
}

void Scan::vacate(std::uint64_t slot) noexcept {
    set(slot, ScanState::vacant);
    ++vacant_;
    if (recent_count_ < recent_.size()) recent_[recent_count_++] = static_cast<std::uint32_t>(slot);
}

/// The caller has checked that a slot is vacant.
std::uint64_t Scan::take_vacant_slot() noexcept {
    while (recent_count_ > 0)
        if (std::uint64_t const slot = recent_[--recent_count_]; state(slot) == ScanState::vacant) return slot;
    while (state(land_cursor_) != ScanState::vacant)
        land_cursor_ = land_cursor_ + 1 == addresses_->size() ? 0 : land_cursor_ + 1;
    return land_cursor_;
}

void Scan::flush(int local) {
    Peer& peer = peers_[static_cast<std::size_t>(local)];
    if (peer.packet == nullptr) return;
    rings_.commit(local, k_packet_kind, peer.filled, pass_, index_bytes(packet_blocks_) + peer.filled * block_bytes_);
    peer.packet = nullptr;
}

void Scan::flush_all() {
    for (int local = 0; local < node_.size(); ++local)
        flush(local);
}

/// Nothing moved: publishes the packets that others may wait for, then sleeps until another rank acts.
void Scan::wait() {
    flush_all();
    for (std::uint64_t yield = 0; yield < k_yields_before_sleep; ++yield) {
        sched_yield();
        if (take_packets() || scan_some()) return;
    }
    if (node::sleep_unless(rings_, [this] { return take_packets() || scan_some(); }) == node::Slept::was_not_rung)
        look_ahead(k_look_ahead);
}

}  // namespace sluice::redistribution
