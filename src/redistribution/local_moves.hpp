// SPDX-License-Identifier: BSD-3-Clause
/// Makes a set of moves between the slots of one rank in place: chains from their open end, cycles through one block of
/// room.
#pragma once

#include <cstdint>

#include "memory/meter.hpp"
#include "redistribution/block_array.hpp"

namespace sluice::redistribution {

/// Keeps 8 bytes for each slot: which slot's block belongs there, and whether its own block has to move.
class LocalMoves {
  public:
    LocalMoves(std::uint64_t slots, memory::Meter& meter);

    /// Adds the move of the block in slot `from` to slot `to`. Each slot is named at most once as `from` and once as
    /// `to`; from != to.
    void add(std::uint64_t from, std::uint64_t to) noexcept;
    bool empty() const noexcept { return first_ > last_; }

    /// Makes all moves and forgets them. Calls `moved(from, to)` after each, so that data that belong to a block can
    /// follow it. `room` holds one block; a block that passes through it has `k_room` as its slot. Returns the number
    /// of copies.
    template <typename Moved>
    std::uint64_t apply(BlockArray const& blocks, std::byte* room, Moved&& moved) noexcept;

    static constexpr std::uint64_t k_room = ~std::uint64_t{0};

    /// The 8 bytes for each slot, as scratch room while no moves are kept. The caller must clear it (`clear`) after
    /// use.
    std::uint64_t* scratch() noexcept { return from_.data(); }
    void clear() noexcept;

  private:
    static constexpr std::uint64_t k_leaves = std::uint64_t{1} << 63;  // the block of this slot has to move
    static constexpr std::uint64_t k_nothing = k_leaves - 1;           // no block comes to this slot

    bool expects(std::uint64_t slot) const noexcept { return (from_[slot] & k_nothing) != k_nothing; }
    bool leaves(std::uint64_t slot) const noexcept { return (from_[slot] & k_leaves) != 0; }
    std::uint64_t take(std::uint64_t slot) noexcept {
        std::uint64_t const source = from_[slot] & k_nothing;
        from_[slot] = k_nothing;
        return source;
    }

    memory::MeteredVector<std::uint64_t> from_;
    std::uint64_t first_;  // all slots in use are in [first_, last_]
    std::uint64_t last_;
};

template <typename Moved>
std::uint64_t LocalMoves::apply(BlockArray const& blocks, std::byte* room, Moved&& moved) noexcept {
    std::uint64_t copies = 0;
    for (std::uint64_t end = first_; !empty() && end <= last_; ++end) {  // chains
        if (leaves(end)) continue;
        for (std::uint64_t to = end; expects(to);) {
            std::uint64_t const from = take(to);
            blocks.copy(from, to);
            moved(from, to);
            ++copies;
            to = from;
        }
    }
    for (std::uint64_t start = first_; !empty() && start <= last_; ++start) {  // the remaining moves are cycles
        if (!expects(start)) {
            from_[start] = k_nothing;
            continue;
        }
        std::memcpy(room, blocks.at(start), blocks.block_bytes);
        moved(start, k_room);
        ++copies;
        std::uint64_t to = start;
        for (std::uint64_t from = take(to); from != start; from = take(to)) {
            blocks.copy(from, to);
            moved(from, to);
            ++copies;
            to = from;
        }
        std::memcpy(blocks.at(to), room, blocks.block_bytes);
        moved(k_room, to);
        ++copies;
    }
    first_ = k_nothing;
    last_ = 0;
    return copies;
}

}  // namespace sluice::redistribution
