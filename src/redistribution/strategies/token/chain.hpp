// SPDX-License-Identifier: BSD-3-Clause
/// Chain pull: the token strategy for blocks that are worth a request each.
///
/// The inverse map names, for each slot, the block that belongs there. When a slot becomes vacant its owner fetches
/// that block directly from its slot, which thereby becomes vacant, and its owner does the same: slots form paths and
/// cycles, and vacancy travels along them. A path ends at a slot that is free. A cycle has no free slot, so a rank
/// opens it: it fetches the final content of an occupied slot ahead into a spare, and copies it over as soon as the
/// slot's block has left.
///
/// The pull always ends, with one spare on each rank. A fetch for a vacant slot needs only its source, which exists, so
/// vacancy moves on until its path or opened cycle is finished. A spare is taken only for a slot on an unfinished path
/// or cycle, and is free again when vacancy has reached that slot. While a rank has unfinished slots and no vacancy
/// reaches it, its spares are free, and it opens one more cycle. Each block crosses the network once.
///
///                inverse map                 lanes, one for each source
///    vacant ->  slot k <- (s, j)  ------>  | s: (j,k) (j',k') ... |  ---> transport ---> landed(k)
///      ^                                                                                    |
///      +------------- vacated(j) at s <-----------------------------------------------------+
///
///     live       of a block: it has content that some slot needs; all other slots are free from the start
///     lane       the fetches that are collected for one source, until they are worth a request
///     ahead      of a fetch: into a spare, for a slot whose own block has not left yet
///     backlog    the vacant slots that still need content and are in no lane
///     unsettled  of a slot: its final content is not there yet
///     in vain    slots that were looked at in a row without finding a fetch to queue
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "base/counters.hpp"
#include "engine/transports/transport.hpp"
#include "memory/meter.hpp"
#include "memory/metered_bytes.hpp"
#include "redistribution/address_map.hpp"
#include "redistribution/strategies/token/slot_state.hpp"
#include "redistribution/strategies/token/spares.hpp"
#include "redistribution/strategies/token/visit_order.hpp"
#include "redistribution/strategies/token/wanting_slots.hpp"

namespace sluice::redistribution {

/// How a chain pull divides its bytes.
struct ChainMemory {
    std::uint64_t piece_bytes;    ///< bytes of each block in a full pass
    std::size_t spares;           ///< spare slots of the staging
    std::size_t lanes;            ///< sources for which fetches are collected at once
    std::size_t lane_entries;     ///< fetches collected for one source
    std::byte* places = nullptr;  ///< of the spares, not owned; null: the chain takes memory for them
};

/// The bookkeeping of one rank: it decides and does not communicate. A model test drives it without MPI.
class Chain final : public engine::FetchListener {
  public:
    /// The order in which slots are looked at: as they are stored, or spread to suit a network (visit_order.hpp).
    enum class Visits { in_order, spread };

    Chain(AddressMap& inverse, int rank, ChainMemory const& memory, memory::Meter& meter, base::Counters& counters,
          Visits visits = Visits::in_order);

    /// Starts a pass over one byte range. The states in the inverse map say which slots were free from the start
    /// (vacant); all others must be occupied. `live_leaving`: the number of our blocks that go to other ranks.
    void begin_pass(engine::Slots const& slots, std::uint64_t live_leaving);
    bool finished() const noexcept { return unsettled_ == 0 && leaving_ == 0; }

    /// Puts vacant slots into lanes, then, while there are spares, occupied ones (fetch ahead). Returns true if a fetch
    /// was queued or a block copied.
    bool queue_fetches();
    /// Whether another call of queue_fetches may find a fetch although nothing happens in between, because one call
    /// looks at only a part of the slots. A rank that blocks before this is false may wait for peers that wait for it.
    bool has_more_to_look_at() const noexcept;

    /// Lanes that hold fetches, for the caller to start.
    struct Lane {
        int source = -1;
        std::size_t count = 0;
    };
    std::size_t lanes() const noexcept { return lanes_.size(); }
    Lane const& lane(std::size_t i) const noexcept { return lanes_[i]; }
    /// Takes the last `n` fetches out of lane `i`; valid until the next call of a non-const function.
    std::span<engine::Fetch const> take(std::size_t i, std::size_t n);

    std::byte* place_for(std::uint64_t slot) override;
    void landed(std::uint64_t slot) override;
    void vacated(std::uint64_t slot) override;

    /// Bytes copied inside this rank since the last call.
    Bytes take_bytes_copied() noexcept { return {std::exchange(bytes_copied_, 0)}; }

  private:
    SlotState state(std::uint64_t slot) const noexcept { return static_cast<SlotState>(inverse_.state(slot)); }
    void set(std::uint64_t slot, SlotState state) noexcept { inverse_.set_state(slot, static_cast<unsigned>(state)); }
    bool wants(std::uint64_t slot) const noexcept { return !inverse_.is_nowhere(slot); }
    /// Blocks of this rank need no lane: they are counted as those of one that is never full.
    std::size_t lane_of(int source) const noexcept {
        return source == rank_ ? lanes_.size() : static_cast<std::size_t>(source) % lanes_.size();
    }
    Lane* lane_for(int source);
    void set_full(std::size_t lane, bool full) noexcept {
        vacant_.set_full(lane, full);
        occupied_.set_full(lane, full);
    }
    bool push(Destination const& source, std::uint64_t slot);
    void left(std::uint64_t slot);
    /// Slots that stay free are spares, too, if the spares are not places of others.
    static std::size_t most_spares(ChainMemory const& memory) {
        return memory.places == nullptr ? 2 * memory.spares : memory.spares;
    }
    static std::uint64_t bytes_of_spares(ChainMemory const& memory) {
        return memory.places == nullptr ? memory.spares * memory.piece_bytes : 0;
    }
    void offer_as_spare(std::uint64_t slot);
    std::byte* spare_at(std::uint64_t place) noexcept;
    std::uint64_t settle_from_here(std::uint64_t slot, std::uint64_t source);
    void move_in_from_spare(std::uint64_t slot);
    void copy(std::byte* to, std::byte const* from);
    void order_visits();
    void something_changed() noexcept { vacant_in_vain_ = ahead_in_vain_ = 0; }
    bool may_fetch_ahead() const noexcept { return vacant_.all() == 0 && queued_ < spare_count_; }
    bool fetch_vacant();
    bool fetch_ahead();

    AddressMap& inverse_;
    int rank_;
    Visits visits_;
    std::size_t lane_entries_;
    std::size_t spare_count_;
    engine::Slots slots_;
    std::uint64_t spare_bytes_;
    memory::MeteredBytes spare_memory_;
    std::byte* spare_places_;
    Spares spares_;
    memory::MeteredVector<Lane> lanes_;
    memory::MeteredVector<engine::Fetch> entries_;  // lane i: [i * lane_entries_, …)
    std::size_t queued_ = 0;                        // fetches in all lanes
    std::uint64_t unsettled_ = 0;                   // slots that still lack their final content
    std::uint64_t leaving_ = 0;                     // blocks of ours that other ranks still have to fetch
    WantingSlots vacant_;                           // the backlog
    WantingSlots occupied_;
    std::uint64_t vacant_in_vain_ = 0;  // slots looked at without success since the last success or event
    std::uint64_t ahead_in_vain_ = 0;
    VisitOrder vacant_visits_;
    VisitOrder ahead_visits_;
    std::uint64_t bytes_copied_ = 0;
    base::Counter& ahead_counter_;
};

}  // namespace sluice::redistribution
