// SPDX-License-Identifier: BSD-3-Clause
/// The places in the program that call MPI, told apart by return address and function. At most record::k_sites of them;
/// those that come later share entry 0.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>

#include "functions.hpp"
#include "record/record.hpp"

namespace sluice::plugin {

class Sites {
  public:
    explicit Sites(record::RankRecord& record);

    /// Index of the site; makes it at the first call. Thread-safe; no lock once it is known.
    std::uint32_t of(Function function, void const* caller) noexcept {
        std::uint64_t const key = key_of(function, caller);
        for (std::size_t at = slot_of(key);; at = (at + 1) % k_slots) {
            std::uint64_t const found = slots_[at].key.load(std::memory_order_acquire);
            if (found == key) return slots_[at].index;
            if (found == 0) return add(function, caller, key);
        }
    }

  private:
    static constexpr std::size_t k_slots = 4 * record::k_sites;
    struct Slot {
        std::atomic<std::uint64_t> key{0};
        std::uint32_t index = 0;
    };

    /// Addresses have 48 bits, functions fit in the rest.
    static std::uint64_t key_of(Function function, void const* caller) noexcept {
        return (static_cast<std::uint64_t>(function) + 1) << 48 |
               (reinterpret_cast<std::uint64_t>(caller) & 0xffff'ffff'ffffULL);
    }
    static std::size_t slot_of(std::uint64_t key) noexcept { return (key * 0x9e37'79b9'7f4a'7c15ULL >> 40) % k_slots; }
    std::uint32_t add(Function function, void const* caller, std::uint64_t key) noexcept;

    record::RankRecord& record_;
    std::mutex adding_;
    std::array<Slot, k_slots> slots_;
};

}  // namespace sluice::plugin
