// SPDX-License-Identifier: BSD-3-Clause
/// Walk: the token strategy for arrays that all ranks map (sluice/allocate.hpp). A rank copies each block from where it
/// is to where it belongs, in whichever arrays these are; no message is sent, and only the last block of a walk waits.
///
///     vacant v <──copy── u      v is right now, and u is vacant: the walk goes on with u
///        words[v] = u           u is claimed first, so it has one reader
///
/// A hand walks upstream from slot to slot. Many hands walk at once, on all ranks, on the same cycles:
///
///     start at a free slot of this rank                       ends where no block comes to the vacant slot
///     start at a block of this rank: claimed, saved aside     ends at a block that another hand has saved:
///                                                             its word is told the vacant slot, and that hand
///                                                             puts the block there
///
/// Why it ends: a hand that walks waits for nothing, and each of its steps claims a block that no hand has claimed
/// before. A hand that has ended its walk and still has a saved block waits for the hand that comes to the slot where
/// that block belongs. Such a hand exists and walks: between the two nearest saved blocks of a cycle there is the walk
/// that began at the one downstream. So waiting hands wait for walking hands only, and these never wait
/// (docs/proofs/walk.md).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "engine/patience.hpp"
#include "memory/meter.hpp"
#include "memory/metered_bytes.hpp"
#include "node/node.hpp"
#include "redistribution/strategies/moving/fetch_to_write.hpp"
#include "redistribution/strategies/shared/shared_map.hpp"
#include "redistribution/strategies/shared/shared_word.hpp"

namespace sluice::redistribution {

/// The same bytes of every block, in the arrays of all ranks.
struct SharedSlots {
    std::span<std::byte* const> arrays;  ///< by rank; null for a rank without slots
    std::uint64_t block_bytes = 0;
    std::uint64_t offset = 0;  ///< where the bytes begin in a block
    std::uint64_t bytes = 0;

    std::byte* at(std::size_t rank, std::uint64_t index) const noexcept {
        return arrays[rank] + index * block_bytes + offset;
    }
};

/// How many hands walk on a rank, and how many bytes each saves.
struct WalkMemory {
    std::uint64_t piece_bytes = 0;
    std::size_t hands = 0;

    /// A block larger than its share moves in pieces, one pass for each; enough hands hide the way to memory.
    static WalkMemory of(Bytes staging, std::uint64_t block_bytes);
};

template <typename Word>
class Walk {
  public:
    Walk(node::Node& node, WalkMemory const& memory, memory::Meter& meter);

    /// One pass. All ranks have met before, and meet afterwards.
    void run(SharedMap const& map, SharedSlots const& slots);
    /// Bytes copied between slots of this rank, or aside and back, since the last call.
    Bytes take_bytes_copied() noexcept { return {std::exchange(copied_, 0)}; }

  private:
    using Words = SharedWords<Word>;
    enum class HandState : std::uint8_t { idle, walking, waiting };
    struct Hand {
        HandState state = HandState::idle;
        bool has_saved = false;
        Word start = 0;         ///< the slot that the walk began at
        Word start_source = 0;  ///< what its word was
        Word vacant = 0;        ///< the slot that is to be filled next
        Word source = 0;        ///< the slot of the block that belongs there
        std::byte* place = nullptr;
        std::byte* saved = nullptr;
    };

    bool act(Hand& hand);
    bool start(Hand& hand);
    bool start_at(Hand& hand, std::uint64_t slot);
    bool step(Hand& hand);
    bool put_saved(Hand& hand);
    void end(Hand& hand) noexcept { hand.state = hand.has_saved ? HandState::waiting : HandState::idle; }
    [[gnu::always_inline]] void go_to(Hand& hand, Word vacant, std::byte* place, Word source) const noexcept {
        hand.vacant = vacant;
        hand.place = place;
        hand.source = source;
        if (source == 0) return;
        fetch_to_write(words_.at(source));
        std::byte const* const next = at(source);
        // The processor detects the stream of a longer block by itself.
        for (std::uint64_t line = 0; line < std::min<std::uint64_t>(slots_.bytes, 256); line += 64)
            fetch_to_write(next + line);
        fetch_to_write(next + slots_.bytes - 1);  // arrays need not begin at a cache line
    }
    void wait();
    std::byte* at(Word address) const noexcept { return slots_.at(words_.rank_of(address), words_.index_of(address)); }
    void copy(std::byte* to, std::byte const* from) const noexcept;
    void count_local() noexcept { copied_ += slots_.bytes; }

    node::NodeRings& rings_;
    std::size_t rank_;
    memory::MeteredBytes saved_blocks_;
    memory::MeteredVector<Hand> hands_;
    engine::Patience patience_;

    SharedMap const* map_ = nullptr;
    Words words_;
    SharedSlots slots_;
    std::uint64_t looked_at_ = 0;  // slots of this rank that have been looked at as starts, those of both turns
    std::uint64_t copied_ = 0;
};

}  // namespace sluice::redistribution
