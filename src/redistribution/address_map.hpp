// SPDX-License-Identifier: BSD-3-Clause
/// Holds for each local slot one address (rank, index), two bits of state and a mark, in 5 or 8 bytes.
///
///     63/39                                                          0
///     +-------+-------+----------------------+------------------------+
///     | mark  | state |         rank         |         index          |
///     | 1 bit | 2 bit |  bits for the ranks  |       what is left     |
///     +-------+-------+----------------------+------------------------+
///
/// The forward map says where each block goes; the inverse map says where each slot's final content comes from, its
/// state bits follow the slot through a redistribution, and its mark says that the slot held a live block at the start.
/// Entries have 5 bytes if every address of the context fits into 37 bits.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "memory/meter.hpp"
#include "sluice/redistribute.hpp"

namespace sluice::redistribution {

class AddressMap {
  public:
    /// Makes `slots` entries, all "nowhere" with state 0 and no mark. `most_slots` is the size of the largest local
    /// array of the context.
    AddressMap(std::uint64_t slots, int ranks, std::uint64_t most_slots, memory::Meter& meter)
        : slots_(slots),
          rank_bits_(static_cast<unsigned>(
              std::bit_width(static_cast<unsigned>(ranks)))),  // one more value than ranks, which stands for "nowhere"
          width_(rank_bits_ + static_cast<unsigned>(std::bit_width(most_slots)) <= 37 ? 5U : 8U),
          index_bits_(width_ * 8 - 3 - rank_bits_),
          nowhere_rank_((std::uint64_t{1} << rank_bits_) - 1),
          entries_(slots * width_ + 8, std::byte{0}, memory::MeteredAllocator<std::byte>(meter)) {
        std::uint64_t const first = std::min(slots_, k_cleared_singly);
        for (std::uint64_t slot = 0; slot < first; ++slot)
            clear(slot);
        for (std::uint64_t slot = first; slot < slots_; slot += first)
            std::memcpy(entries_.data() + slot * width_, entries_.data(), std::min(slots_ - slot, first) * width_);
    }

    std::uint64_t size() const noexcept { return slots_; }
    Bytes memory() const noexcept { return {entries_.capacity()}; }

    /// The rank is −1 if the slot has no address.
    Destination operator[](std::uint64_t slot) const noexcept { return unpack(load(slot)); }
    unsigned state(std::uint64_t slot) const noexcept {
        return static_cast<unsigned>(load(slot) >> (width_ * 8 - 3)) & 3U;
    }
    bool mark(std::uint64_t slot) const noexcept { return (load(slot) >> (width_ * 8 - 1)) != 0; }
    bool is_nowhere(std::uint64_t slot) const noexcept { return rank_field(load(slot)) == nowhere_rank_; }

    void set(std::uint64_t slot, Destination address) noexcept {
        store(slot, (load(slot) & top_mask()) | (static_cast<std::uint64_t>(address.rank) << index_bits_) |
                        static_cast<std::uint64_t>(address.index));
    }
    /// Like set(), for an entry with state 0 and no mark.
    void set_fresh(std::uint64_t slot, Destination address) noexcept {
        store(slot,
              (static_cast<std::uint64_t>(address.rank) << index_bits_) | static_cast<std::uint64_t>(address.index));
    }
    /// The same for the slots from `first` on, without those whose address is no address.
    void set_fresh(std::uint64_t first, std::span<Destination const> addresses) noexcept {
        for (std::size_t i = 0; i < addresses.size(); ++i)
            if (addresses[i].rank >= 0) set_fresh(first + i, addresses[i]);
    }
    /// Returns false, and changes nothing, if the slot has an address.
    bool set_if_nowhere(std::uint64_t slot, Destination address) noexcept {
        std::uint64_t const word = load(slot);
        if (rank_field(word) != nowhere_rank_) return false;
        store(slot, (word & top_mask()) | (static_cast<std::uint64_t>(address.rank) << index_bits_) |
                        static_cast<std::uint64_t>(address.index));
        return true;
    }
    /// Changes only the index.
    void set_index(std::uint64_t slot, std::uint64_t index) noexcept {
        store(slot, (load(slot) & ~((std::uint64_t{1} << index_bits_) - 1)) | index);
    }
    void clear(std::uint64_t slot) noexcept { store(slot, (load(slot) & top_mask()) | (nowhere_rank_ << index_bits_)); }
    void set_state(std::uint64_t slot, unsigned state) noexcept {
        store(slot, (load(slot) & ~state_mask()) | (std::uint64_t{state} << (width_ * 8 - 3)));
    }
    void set_mark(std::uint64_t slot) noexcept { store(slot, load(slot) | (std::uint64_t{1} << (width_ * 8 - 1))); }

    /// Marks the slots from `first` on whose addresses are addresses.
    void set_marks(std::uint64_t first, std::span<Destination const> addresses) noexcept {
        for (std::size_t i = 0; i < addresses.size(); ++i)
            if (addresses[i].rank >= 0) set_mark(first + i);
    }

    /// Forced inline because GCC 12 drops calls of functions that only prefetch.
    [[gnu::always_inline]] void prefetch(std::uint64_t slot) const noexcept {
        __builtin_prefetch(entries_.data() + slot * width_);
    }

  private:
    std::uint64_t state_mask() const noexcept { return std::uint64_t{3} << (width_ * 8 - 3); }
    std::uint64_t top_mask() const noexcept { return std::uint64_t{7} << (width_ * 8 - 3); }
    std::uint64_t rank_field(std::uint64_t word) const noexcept {
        return (word >> index_bits_) & ((std::uint64_t{1} << rank_bits_) - 1);
    }
    Destination unpack(std::uint64_t word) const noexcept {
        std::uint64_t const rank = rank_field(word);
        if (rank == nowhere_rank_) return free_block;
        return {static_cast<int>(rank), static_cast<std::int64_t>(word & ((std::uint64_t{1} << index_bits_) - 1))};
    }
    std::uint64_t load(std::uint64_t slot) const noexcept {
        std::uint64_t word = 0;
        std::memcpy(&word, entries_.data() + slot * width_, 8);  // 8 bytes of padding follow the last entry
        return width_ == 8 ? word : word & ((std::uint64_t{1} << 40) - 1);
    }
    void store(std::uint64_t slot, std::uint64_t word) noexcept {
        std::byte* const at = entries_.data() + slot * width_;
        if (width_ == 8) {
            std::memcpy(at, &word, 8);
            return;
        }
        std::uint32_t const low = static_cast<std::uint32_t>(word);
        std::uint8_t const high = static_cast<std::uint8_t>(word >> 32);
        std::memcpy(at, &low, 4);
        std::memcpy(at + 4, &high, 1);
    }

    static constexpr std::uint64_t k_cleared_singly = 2048;  // their bytes stay in the fastest cache

    std::uint64_t slots_;
    unsigned rank_bits_;
    unsigned width_;
    unsigned index_bits_;
    std::uint64_t nowhere_rank_;
    memory::MeteredVector<std::byte> entries_;
};

}  // namespace sluice::redistribution
