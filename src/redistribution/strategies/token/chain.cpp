// SPDX-License-Identifier: BSD-3-Clause
#include "redistribution/strategies/token/chain.hpp"

#include <algorithm>
#include <cstring>

namespace sluice::redistribution {

namespace {
// This many entries of the map are looked at before peers are served again.
constexpr std::uint64_t k_most_slots_looked_at = 4096;
}  // namespace

Chain::Chain(AddressMap& inverse, int rank, ChainMemory const& memory, memory::Meter& meter, base::Counters& counters,
             Visits visits)
    : inverse_(inverse),
      rank_(rank),
      visits_(visits),
      lane_entries_(memory.lane_entries),
      spare_count_(memory.spares),
      spare_bytes_(memory.piece_bytes),
      spare_memory_(bytes_of_spares(memory), meter),
      spare_places_(memory.places == nullptr ? spare_memory_.data() : memory.places),
      spares_(most_spares(memory), meter),
      lanes_(memory.lanes, Lane{}, memory::MeteredAllocator<Lane>(meter)),
      entries_(memory.lanes * memory.lane_entries, engine::Fetch{}, memory::MeteredAllocator<engine::Fetch>(meter)),
      vacant_(memory.lanes + 1, meter),
      occupied_(memory.lanes + 1, meter),
      ahead_counter_(counters.named("token.fetched_ahead")) {}

void Chain::begin_pass(engine::Slots const& slots, std::uint64_t live_leaving) {
    slots_ = slots;
    leaving_ = live_leaving;
    unsettled_ = 0;
    vacant_.clear();
    occupied_.clear();
    spares_.clear();
    for (std::size_t spare = 0; spare < spare_count_; ++spare)
        spares_.add(inverse_.size() + spare);
    for (std::uint64_t slot = 0; slot < inverse_.size(); ++slot) {
        bool const live = inverse_.mark(slot);
        if (!wants(slot)) {
            set(slot, live ? SlotState::occupied : SlotState::vacant);
            if (!live) offer_as_spare(slot);
            continue;
        }
        if (inverse_[slot] == Destination{rank_, static_cast<std::int64_t>(slot)}) {
            set(slot, SlotState::settled);
            continue;
        }
        ++unsettled_;
        (live ? occupied_ : vacant_).add(lane_of(inverse_[slot].rank));
        set(slot, live ? SlotState::occupied : SlotState::vacant);
    }
    something_changed();
    order_visits();
}

void Chain::order_visits() {
    std::uint64_t const size = inverse_.size();
    if (visits_ == Visits::spread) {
        // The search begins with the first source after this rank: if slots are sorted by source, the ranks then begin
        // with different sources.
        std::uint64_t start = 0;
        while (start < size && inverse_[start].rank <= rank_)
            ++start;
        vacant_visits_ = ahead_visits_ = VisitOrder::spread(size, start);
        return;
    }
    vacant_visits_ = VisitOrder::in_order(size, 0);
    // Each rank opens cycles at a different place; otherwise all would open the same ones.
    ahead_visits_ = VisitOrder::in_order(size, static_cast<std::uint64_t>(rank_) * 0x9e3779b97f4a7c15ULL);
}

void Chain::offer_as_spare(std::uint64_t slot) {
    if (!spares_.can_hold_more()) return;
    spares_.add(slot);
    set(slot, SlotState::settled);
}

std::byte* Chain::spare_at(std::uint64_t place) noexcept {
    return place < inverse_.size() ? slots_.at(place) : spare_places_ + (place - inverse_.size()) * spare_bytes_;
}

void Chain::copy(std::byte* to, std::byte const* from) {
    std::memcpy(to, from, slots_.piece_bytes);
    bytes_copied_ += slots_.piece_bytes;
}

Chain::Lane* Chain::lane_for(int source) {
    Lane& lane = lanes_[static_cast<std::size_t>(source) % lanes_.size()];
    if (lane.source != source) {
        if (lane.count > 0) return nullptr;
        lane.source = source;
    }
    return lane.count < lane_entries_ ? &lane : nullptr;
}

bool Chain::push(Destination const& source, std::uint64_t slot) {
    Lane* const lane = lane_for(source.rank);
    if (lane == nullptr) return false;
    std::size_t const first = static_cast<std::size_t>(lane - lanes_.data()) * lane_entries_;
    entries_[first + lane->count++] = {static_cast<std::uint64_t>(source.index), slot};
    ++queued_;
    if (lane->count == lane_entries_) set_full(lane_of(source.rank), true);
    return true;
}

std::span<engine::Fetch const> Chain::take(std::size_t i, std::size_t n) {
    Lane& lane = lanes_[i];
    if (n > 0) set_full(i, false);
    lane.count -= n;
    queued_ -= n;
    something_changed();
    return {entries_.data() + i * lane_entries_ + lane.count, n};
}

void Chain::left(std::uint64_t slot) {
    for (;;) {
        if (state(slot) == SlotState::ahead) {
            Spares::InUse& spare = spares_.of(slot);
            spare.vacated = true;
            if (spare.landed) move_in_from_spare(slot);
            return;
        }
        if (!wants(slot)) {
            set(slot, SlotState::vacant);
            offer_as_spare(slot);
            return;
        }
        Destination const source = inverse_[slot];
        occupied_.remove(lane_of(source.rank));
        if (source.rank != rank_) {
            bool const queued = push(source, slot);
            set(slot, queued ? SlotState::settled : SlotState::vacant);
            if (!queued) vacant_.add(lane_of(source.rank));
            return;
        }
        slot = settle_from_here(slot, static_cast<std::uint64_t>(source.index));
    }
}

std::uint64_t Chain::settle_from_here(std::uint64_t slot, std::uint64_t source) {
    copy(slots_.at(slot), slots_.at(source));
    set(slot, SlotState::settled);
    --unsettled_;
    return source;  // the slot that this copy vacated
}

void Chain::move_in_from_spare(std::uint64_t slot) {
    copy(slots_.at(slot), spare_at(spares_.of(slot).place));
    spares_.release(slot);
    set(slot, SlotState::settled);
    --unsettled_;
}

std::byte* Chain::place_for(std::uint64_t slot) {
    return state(slot) == SlotState::ahead ? spare_at(spares_.of(slot).place) : slots_.at(slot);
}

void Chain::landed(std::uint64_t slot) {
    something_changed();
    if (state(slot) != SlotState::ahead) {
        --unsettled_;
        return;
    }
    Spares::InUse& spare = spares_.of(slot);
    spare.landed = true;
    if (spare.vacated) move_in_from_spare(slot);
}

void Chain::vacated(std::uint64_t slot) {
    something_changed();
    --leaving_;
    left(slot);
}

bool Chain::fetch_vacant() {
    bool any = false;
    std::uint64_t const to_look_at = std::min(k_most_slots_looked_at, inverse_.size());
    for (std::uint64_t looked = 0; looked < to_look_at && vacant_.within_reach() > 0; ++looked) {
        ++vacant_in_vain_;
        std::uint64_t const slot = vacant_visits_.next();
        if (state(slot) != SlotState::vacant || !wants(slot)) continue;
        Destination const source = inverse_[slot];
        if (source.rank == rank_) {
            vacant_.remove(lane_of(rank_));
            left(settle_from_here(slot, static_cast<std::uint64_t>(source.index)));
        } else if (push(source, slot)) {
            vacant_.remove(lane_of(source.rank));
            set(slot, SlotState::settled);
        } else {
            continue;
        }
        any = true;
    }
    if (any) something_changed();
    return any;
}

bool Chain::fetch_ahead() {
    bool any = false;
    std::uint64_t const to_look_at = std::min(k_most_slots_looked_at, inverse_.size());
    for (std::uint64_t looked = 0; looked < to_look_at && occupied_.within_reach() > 0 && spares_.any_free();
         ++looked) {
        ++ahead_in_vain_;
        std::uint64_t const slot = ahead_visits_.next();
        if (state(slot) != SlotState::occupied || !wants(slot)) continue;
        Destination const source = inverse_[slot];
        if (source.rank != rank_ && !push(source, slot)) continue;
        any = true;
        occupied_.remove(lane_of(source.rank));
        set(slot, SlotState::ahead);
        std::uint64_t const place = spares_.take(slot);
        ahead_counter_.add();
        if (source.rank == rank_) {
            copy(spare_at(place), slots_.at(static_cast<std::uint64_t>(source.index)));
            spares_.of(slot).landed = true;
            left(static_cast<std::uint64_t>(source.index));
        }
    }
    if (any) something_changed();
    return any;
}

bool Chain::queue_fetches() {
    bool const any = fetch_vacant();
    // Fetching ahead costs a second copy, so it is done only if vacant slots alone do not fill the lanes.
    if (!may_fetch_ahead()) return any;
    return fetch_ahead() || any;
}

bool Chain::has_more_to_look_at() const noexcept {
    if (vacant_.within_reach() > 0 && vacant_in_vain_ < inverse_.size()) return true;
    return may_fetch_ahead() && occupied_.within_reach() > 0 && spares_.any_free() && ahead_in_vain_ < inverse_.size();
}

}  // namespace sluice::redistribution
