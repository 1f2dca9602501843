// SPDX-License-Identifier: BSD-3-Clause
#include "redistribution/block_order.hpp"

#include <algorithm>
#include <numeric>

namespace sluice::redistribution {

// No rank has all its bits set, so k_free is no address.
BlockOrder::BlockOrder(std::uint64_t slots, int ranks, int rank, memory::Meter& meter)
    : ranks_(ranks),
      rank_(rank),
      rank_shift_(64 - static_cast<unsigned>(std::bit_width(static_cast<unsigned>(ranks)))),
      words_(slots, k_free, memory::MeteredAllocator<std::uint64_t>(meter)),
      count_(static_cast<std::size_t>(ranks), 0, memory::MeteredAllocator<std::uint64_t>(meter)),
      begin_(static_cast<std::size_t>(ranks) + 1, 0, memory::MeteredAllocator<std::uint64_t>(meter)),
      cursor_(static_cast<std::size_t>(ranks), 0, memory::MeteredAllocator<std::uint64_t>(meter)),
      moves_(slots, meter) {}

void BlockOrder::start(AddressMap const& forward, std::uint64_t slots) noexcept {
    slots_ = slots;
    live_ = 0;
    std::fill(words_.begin(), words_.end(), k_free);
    std::fill(count_.begin(), count_.end(), std::uint64_t{0});
    for (std::uint64_t slot = 0; slot < forward.size(); ++slot) {
        Destination const to = forward[slot];
        if (to.rank >= 0)
            arrived_word(slot,
                         (static_cast<std::uint64_t>(to.rank) << rank_shift_) | static_cast<std::uint64_t>(to.index));
    }
}

void BlockOrder::find_begins() noexcept {
    std::exclusive_scan(count_.begin(), count_.end(), begin_.begin(), std::uint64_t{0});
    begin_.back() = live_;
}

std::uint64_t BlockOrder::sort(BlockArray const& blocks, std::byte* room) noexcept {
    find_begins();
    std::copy(begin_.begin(), begin_.end() - 1, cursor_.begin());
    auto const misplaced = [this](std::uint64_t slot) {
        auto const rank = static_cast<std::size_t>(rank_of(words_[slot]));
        std::uint64_t to = cursor_[rank];
        while (words_[to] != k_free && rank_of(words_[to]) == static_cast<int>(rank))
            ++to;
        cursor_[rank] = to + 1;
        moves_.add(slot, to);
    };
    for (int rank = 0; rank < ranks_; ++rank)
        for (std::uint64_t slot = begin(rank); slot < begin_[static_cast<std::size_t>(rank) + 1]; ++slot)
            if (words_[slot] != k_free && rank_of(words_[slot]) != rank) misplaced(slot);
    for (std::uint64_t slot = live_; slot < slots_; ++slot)
        if (words_[slot] != k_free) misplaced(slot);
    return make_moves(blocks, room);
}

std::uint64_t BlockOrder::settle(BlockArray const& blocks, std::byte* room) noexcept {
    for (std::uint64_t slot = 0; slot < slots_; ++slot)
        if (words_[slot] != k_free && index_of(words_[slot]) != slot) moves_.add(slot, index_of(words_[slot]));
    return make_moves(blocks, room);
}

std::uint64_t BlockOrder::make_moves(BlockArray const& blocks, std::byte* room) noexcept {
    std::uint64_t word_in_room = k_free;
    auto const word_at = [&](std::uint64_t slot) -> std::uint64_t& {
        return slot == LocalMoves::k_room ? word_in_room : words_[slot];
    };
    return moves_.apply(blocks, room, [&](std::uint64_t from, std::uint64_t to) {
        word_at(to) = word_at(from);
        word_at(from) = k_free;
    });
}

BlockArray BlockOrder::words() noexcept {
    return {reinterpret_cast<std::byte*>(words_.data()), words_.size(), sizeof(std::uint64_t)};
}

Destination BlockOrder::operator[](std::uint64_t slot) const noexcept {
    if (words_[slot] == k_free) return free_block;
    return {rank_of(words_[slot]), static_cast<std::int64_t>(index_of(words_[slot]))};
}

void BlockOrder::release(std::uint64_t first, std::uint64_t count) noexcept {
    for (std::uint64_t slot = first; slot < first + count; ++slot) {
        --count_[static_cast<std::size_t>(rank_of(words_[slot]))];
        words_[slot] = k_free;
    }
    live_ -= count;
}

void BlockOrder::arrived(std::uint64_t first, std::uint64_t count) noexcept {
    for (std::uint64_t slot = first; slot < first + count; ++slot)
        ++count_[static_cast<std::size_t>(rank_of(words_[slot]))];
    live_ += count;
}

void BlockOrder::arrived_word(std::uint64_t slot, std::uint64_t word) noexcept {
    words_[slot] = word;
    arrived(slot, 1);
}

}  // namespace sluice::redistribution
