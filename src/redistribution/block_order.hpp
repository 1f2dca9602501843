// SPDX-License-Identifier: BSD-3-Clause
/// Manages the blocks on a single process (MADRE, section 2). It keeps the destination of each local block, which is
/// sent with the block; sorts the blocks by increasing destination rank, with the free slots at the end; and makes the
/// final local permutation.
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

/// Takes 16 bytes for each slot and 24 bytes for each rank, all allocated by the constructor. The slots are those of a
/// BlockArray, including the spare one.
class BlockOrder {
  public:
    BlockOrder(std::uint64_t slots, int ranks, int rank, memory::Meter& meter);

    /// Takes the destinations of the blocks. Slots beyond the map are free. `slots` is the number in use from now on.
    void start(AddressMap const& forward, std::uint64_t slots) noexcept;

    /// The number of blocks for `rank` and, after sort(), the slot of the first of them.
    std::uint64_t count(int rank) const noexcept { return count_[static_cast<std::size_t>(rank)]; }
    std::uint64_t begin(int rank) const noexcept { return begin_[static_cast<std::size_t>(rank)]; }
    std::uint64_t live() const noexcept { return live_; }
    std::uint64_t free() const noexcept { return slots_ - live_; }
    /// The first free slot after sort().
    std::uint64_t free_begin() const noexcept { return live_; }
    /// The number of blocks that have to go to another rank.
    std::uint64_t leaving() const noexcept { return live_ - count(rank_); }

    /// Sorts the blocks. A block that is already among those for its rank stays where it is, so that only misplaced
    /// blocks are copied (and one more for each cycle, through `room`). Returns the number of copies.
    std::uint64_t sort(BlockArray const& blocks, std::byte* room) noexcept;

    /// Makes the final local permutation, once all blocks are on their rank. Returns the number of copies.
    std::uint64_t settle(BlockArray const& blocks, std::byte* room) noexcept;

    /// The destinations as they are sent: one word for each slot, with the same encoding on all ranks.
    BlockArray words() noexcept;
    Destination operator[](std::uint64_t slot) const noexcept;

    /// Records that the blocks of these slots have left.
    void release(std::uint64_t first, std::uint64_t count) noexcept;
    /// Records that blocks have arrived in these free slots, and their words in words().
    void arrived(std::uint64_t first, std::uint64_t count) noexcept;
    /// Records that a block with this word has arrived in a free slot.
    void arrived_word(std::uint64_t slot, std::uint64_t word) noexcept;

    /// Room for the words of blocks on their way (one for each slot), to be used between sorts and cleared after use.
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
    memory::MeteredVector<std::uint64_t> begin_;   // by rank, followed by the end of the last
    memory::MeteredVector<std::uint64_t> cursor_;  // by rank: the next slot that sort() fills
    LocalMoves moves_;
};

}  // namespace sluice::redistribution
