// SPDX-License-Identifier: BSD-3-Clause
/// Hash tables of a fixed size: where a key begins its search, and a table that several threads read without a lock.
///
///     slot_of_key ──> its slot? ──no──> the next one? ──no──> … until the key is found, or a slot that is free
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>

namespace sluice::base {

/// 2^64 divided by the golden ratio (Knuth, The Art of Computer Programming, volume 3, section 6.4): multiples of it
/// are far apart in their upper bits, for keys that follow each other and for addresses alike.
constexpr std::uint64_t k_golden = 0x9e37'79b9'7f4a'7c15ULL;

/// The slot of `key` in a table of 2^bits slots; bits is 1 to 63.
constexpr std::size_t slot_of_key(std::uint64_t key, unsigned bits) noexcept {
    return static_cast<std::size_t>(key * k_golden >> (64 - bits));
}

/// Values by keys other than 0, with 2^bits slots in place. Values are added and never change or leave, so a search
/// takes no lock, and pointers to values stay valid. A quarter of the slots stays free, so a search ends soon. Does not
/// allocate. Thread-safe.
template <class Value, unsigned bits>
class FixedTable {
  public:
    static constexpr std::size_t k_slots = std::size_t{1} << bits;
    static constexpr std::size_t k_most = k_slots - k_slots / 4;
    static_assert(k_most < k_slots, "a search ends at a free slot");

    /// Returns null if the key is not in the table.
    Value const* find(std::uint64_t key) const noexcept {
        Place const place = place_of(key);
        return place.is_found ? &slots_[place.at].value : nullptr;
    }

    /// Returns the value of `key`. If the key is not in the table, `make` is called under a lock and returns the value
    /// as a std::optional, or nothing if the key shall not be added. Returns null if `make` returns nothing, or if
    /// k_most keys are in the table.
    template <class Make>
    Value const* find_or_add(std::uint64_t key, Make&& make) {
        if (Value const* const found = find(key)) [[likely]]
            return found;
        std::lock_guard const lock(adding_);
        Place const place = place_of(key);
        Slot& slot = slots_[place.at];
        if (place.is_found) return &slot.value;  // another thread was faster
        if (kept_ == k_most) return nullptr;
        std::optional<Value> made = make();
        if (!made) return nullptr;
        slot.value = *made;
        slot.key.store(key, std::memory_order_release);
        ++kept_;
        return &slot.value;
    }

  private:
    struct Slot {
        std::atomic<std::uint64_t> key{0};
        Value value{};
    };

    struct Place {
        std::size_t at;
        bool is_found;  // else the slot is free, and a search for the key ends there
    };
    Place place_of(std::uint64_t key) const noexcept {
        for (std::size_t at = slot_of_key(key, bits);; at = (at + 1) % k_slots) {
            std::uint64_t const found = slots_[at].key.load(std::memory_order_acquire);
            if (found == key) return {at, true};
            if (found == 0) return {at, false};
        }
    }

    std::array<Slot, k_slots> slots_{};
    std::size_t kept_ = 0;
    std::mutex adding_;
};

}  // namespace sluice::base
