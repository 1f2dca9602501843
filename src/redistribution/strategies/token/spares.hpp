// SPDX-License-Identifier: BSD-3-Clause
/// The spare slots of a chain pull: which are free, and which slot's final content each of the others holds.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "base/fixed_table.hpp"
#include "memory/meter.hpp"

namespace sluice::redistribution {

/// At most `capacity` spares are in use at once. A spare is a place in the staging or a slot of the array that stays
/// free. The class is a hash table with open addressing, keyed by the slot whose content the spare holds; the
/// constructor takes all memory.
class Spares {
  public:
    struct InUse {
        std::uint64_t slot = k_none;  ///< slot of the array whose final content the spare holds
        std::uint64_t place = 0;      ///< where the spare is
        bool landed = false;          ///< the content has arrived in the spare
        bool vacated = false;         ///< the slot's block has left: copy as soon as the content has landed
    };
    static constexpr std::uint64_t k_none = ~std::uint64_t{0};

    Spares(std::size_t capacity, memory::Meter& meter)
        : capacity_(capacity),
          bits_(static_cast<unsigned>(std::bit_width(2 * capacity + 1))),
          mask_((std::size_t{1} << bits_) - 1),
          by_slot_(mask_ + 1, InUse{}, memory::MeteredAllocator<InUse>(meter)),
          free_(memory::MeteredAllocator<std::uint64_t>(meter)) {
        free_.reserve(capacity);
    }

    std::size_t capacity() const noexcept { return capacity_; }
    bool any_free() const noexcept { return !free_.empty(); }
    bool can_hold_more() const noexcept { return free_.size() + in_use_ < capacity_; }
    /// Adds a place that may be used as a spare from now on. Requires can_hold_more().
    void add(std::uint64_t place) { free_.push_back(place); }

    /// Takes a free spare for the final content of `slot` and returns its place.
    std::uint64_t take(std::uint64_t slot) {
        std::uint64_t const place = free_.back();
        free_.pop_back();
        std::size_t at = home(slot);
        while (by_slot_[at].slot != k_none)
            at = (at + 1) & mask_;
        by_slot_[at] = {slot, place, false, false};
        ++in_use_;
        return place;
    }

    /// The spare that holds the content of `slot`, which must have one.
    InUse& of(std::uint64_t slot) {
        std::size_t at = home(slot);
        while (by_slot_[at].slot != slot)
            at = (at + 1) & mask_;
        return by_slot_[at];
    }

    /// The content of `slot` has been copied out, so its spare is free again.
    void release(std::uint64_t slot) {
        std::size_t at = static_cast<std::size_t>(&of(slot) - by_slot_.data());
        free_.push_back(by_slot_[at].place);
        --in_use_;
        // Closes the gap, so that searches need no marks of removed entries.
        for (std::size_t next = (at + 1) & mask_; by_slot_[next].slot != k_none; next = (next + 1) & mask_) {
            std::size_t const distance_of_next = (next - home(by_slot_[next].slot)) & mask_;
            if (distance_of_next >= ((next - at) & mask_)) {
                by_slot_[at] = by_slot_[next];
                at = next;
            }
        }
        by_slot_[at] = InUse{};
    }

    void clear() {
        free_.clear();
        in_use_ = 0;
        for (InUse& entry : by_slot_)
            entry = InUse{};
    }

    /// Returns the bytes that Spares of that capacity allocate.
    static std::uint64_t bytes_of(std::size_t capacity) {
        return std::bit_ceil(2 * capacity + 2) * sizeof(InUse) + capacity * sizeof(std::uint64_t);
    }

  private:
    std::size_t home(std::uint64_t slot) const noexcept { return base::slot_of_key(slot, bits_); }

    std::size_t capacity_;
    unsigned bits_;
    std::size_t mask_;
    std::size_t in_use_ = 0;
    memory::MeteredVector<InUse> by_slot_;
    memory::MeteredVector<std::uint64_t> free_;
};

}  // namespace sluice::redistribution
