// SPDX-License-Identifier: BSD-3-Clause
/// The management of blocks on a single process (MADRE, section 2): the destination of each local block, which travels
/// with the block; the blocks in order of increasing destination rank with the free slots at the end; the final local
/// permutation.
///
///     after sort():   | for rank 0 | for rank 1 | ... | for rank n-1 | free ... |
///                     ^begin(0)    ^begin(1)                         ^free_begin()
#pragma once

#include <bit>
#include <cstdint>

#include "memory/meter.hpp"
#include "redistribution/address_map.hpp"
#include "redistribution/block_array.hpp"
#include "redistribution/local_moves.hpp"

namespace sluice::redistribution {

/// 16 bytes a slot and 24 bytes a rank, all allocated when made. Slots are those of a BlockArray, the spare one
/// included.
class BlockOrder {
  public:
    BlockOrder(std::uint64_t slots, int ranks, int rank, memory::Meter& meter);

    /// Takes the destinations of the blocks. Slots past the map's are free. `slots`: how many are in use from now on.
    void start(AddressMap const& forward, std::uint64_t slots) noexcept;

    /// Blocks for `rank` and, after sort(), the slot of the first of them.
    std::uint64_t count(int rank) const noexcept { return count_[static_cast<std::size_t>(rank)]; }
    std::uint64_t begin(int rank) const noexcept { return begin_[static_cast<std::size_t>(rank)]; }
    std::uint64_t live() const noexcept { return live_; }
    std::uint64_t free() const noexcept { return slots_ - live_; }
    /// After sort(): the first of the free slots.
    std::uint64_t free_begin() const noexcept { return live_; }
    /// Blocks that have to go to another rank.
    std::uint64_t leaving() const noexcept { return live_ - count(rank_); }

    /// Brings the blocks into order. A block that lies among those for its rank stays where it is, so that the number
    /// of copies is that of the misplaced blocks (and one for each cycle, through `room`). Returns the copies.
    std::uint64_t sort(BlockArray const& blocks, std::byte* room) noexcept;

    /// The final local permutation, once all blocks are for this rank. Returns the copies.
    std::uint64_t settle(BlockArray const& blocks, std::byte* room) noexcept;

    /// The destinations as they travel: one word a slot, the same encoding on all ranks.
    BlockArray words() noexcept;
    Destination operator[](std::uint64_t slot) const noexcept;

    /// The blocks of these slots have left.
    void release(std::uint64_t first, std::uint64_t count) noexcept;
    /// Blocks have come into these free slots, and their words with them into words().
    void arrived(std::uint64_t first, std::uint64_t count) noexcept;
    /// A block with this word has come into a free slot.
    void arrived_word(std::uint64_t slot, std::uint64_t word) noexcept;

    /// Room for words of blocks on their way (as many as slots), between sorts; whoever used it forgets it when
    /// done.
    std::uint64_t* word_scratch() noexcept { return moves_.scratch(); }
    void forget_scratch() noexcept { moves_.clear(); }

  private:
    static constexpr std::uint64_t k_free = ~std::uint64_t{0};

    int rank_of(std::uint64_t word) const noexcept { return static_cast<int>(word >> rank_shift_); }
    std::uint64_t index_of(std::uint64_t word) const noexcept { return word & ((std::uint64_t{1} << rank_shift_) - 1); }
    void find_begins() noexcept;
    std::uint64_t make_moves(BlockArray const& blocks, std::byte* room) noexcept;

    int ranks_;
    int rank_;
    unsigned rank_shift_;
    std::uint64_t slots_ = 0;
    std::uint64_t live_ = 0;
    memory::MeteredVector<std::uint64_t> words_;   // (rank, index) of each slot, or k_free
    memory::MeteredVector<std::uint64_t> count_;   // by rank
    memory::MeteredVector<std::uint64_t> begin_;   // by rank, and the end behind the last
    memory::MeteredVector<std::uint64_t> cursor_;  // by rank: where sort() looks for the next slot to fill
    LocalMoves moves_;
};

}  // namespace sluice::redistribution
