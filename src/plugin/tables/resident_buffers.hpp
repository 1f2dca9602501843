// SPDX-License-Identifier: BSD-3-Clause
/// Buffers whose pages are known to be in memory, so that the kernel is asked about each but once.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "base/fixed_table.hpp"
#include "plugin/binding/tally.hpp"

namespace sluice::plugin {

/// Without a lock: an entry that two threads write at once is one that fits neither's buffer, for its check does not
/// fit.
class ResidentBuffers {
  public:
    /// Counts how often memory was given back. Asked for before the kernel is asked about a buffer.
    std::uint64_t generation() const noexcept { return generation_.load(std::memory_order_relaxed); }

    bool knows(void const* buffer, std::uint64_t bytes) const noexcept {
        auto const from = reinterpret_cast<std::uint64_t>(buffer);
        Entry const& entry = entries_[slot_of(from)];
        std::uint64_t const known = look_at(entry.bytes);
        return known >= bytes && look_at(entry.check) == check_of(from, known, generation());
    }
    /// `asked_at`: the generation of before it was asked for.
    void add(void const* buffer, std::uint64_t bytes, std::uint64_t asked_at) noexcept {
        auto const from = reinterpret_cast<std::uint64_t>(buffer);
        Entry& entry = entries_[slot_of(from)];
        put(entry.bytes, bytes);
        put(entry.check, check_of(from, bytes, asked_at));
    }
    /// Memory was given back to the kernel: an address may come again with new pages.
    void forget_all() noexcept { generation_.fetch_add(1, std::memory_order_relaxed); }

  private:
    static constexpr unsigned k_slot_bits = 8;
    struct Entry {
        std::uint64_t bytes = 0;
        std::uint64_t check = 0;  // of all that must be as it was
    };
    static std::size_t slot_of(std::uint64_t from) noexcept { return base::slot_of_key(from, k_slot_bits); }
    static std::uint64_t check_of(std::uint64_t from, std::uint64_t bytes, std::uint64_t generation) noexcept {
        return (from ^ (bytes * base::k_golden)) + generation * 0xbf58'476d'1ce4'e5b9ULL;
    }
    std::array<Entry, std::size_t{1} << k_slot_bits> entries_{};
    std::atomic<std::uint64_t> generation_{1};
};

}  // namespace sluice::plugin
