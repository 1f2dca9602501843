// SPDX-License-Identifier: BSD-3-Clause
/// The calls that the program's threads are in, where they may be several. The record of a rank has room for one: the
/// oldest, for that is the one that hangs. Threads beyond the room are not shown.
#pragma once

#include <pthread.h>

#include <array>
#include <atomic>
#include <cstdint>

#include "base/fixed_table.hpp"
#include "record/record.hpp"

namespace sluice::plugin {

class OpenCalls {
  public:
    static constexpr std::uint32_t k_none = 0xffff'ffff;

    struct Entered {
        std::uint32_t site = record::k_no_site;  ///< k_no_site: no thread is in a call
        std::uint64_t since_us = 0;
    };

    /// The number is for `left`; k_none where there is no room.
    std::uint32_t entered(std::uint32_t site, std::uint64_t since_us) noexcept {
        std::uint64_t const word = since_us << k_site_bits | (site + 1);
        std::size_t at = base::slot_of_key(static_cast<std::uint64_t>(pthread_self()), k_room_bits);
        for (std::uint32_t tries = 0; tries < k_room; ++tries, ++at) {
            std::uint64_t free = 0;
            auto const number = static_cast<std::uint32_t>(at % k_room);
            if (words_[number].compare_exchange_strong(free, word, std::memory_order_relaxed)) return number;
        }
        return k_none;
    }
    void left(std::uint32_t number) noexcept {
        if (number != k_none) words_[number].store(0, std::memory_order_relaxed);
    }
    Entered oldest() const noexcept {
        std::uint64_t least = ~std::uint64_t{0};
        for (auto const& word : words_)
            // Less one, what is free is more than any.
            if (std::uint64_t const found = word.load(std::memory_order_relaxed) - 1; found < least) least = found;
        if (least == ~std::uint64_t{0}) return {};
        return {static_cast<std::uint32_t>(least & ((1U << k_site_bits) - 1)), least >> k_site_bits};
    }

  private:
    static constexpr unsigned k_room_bits = 5;
    static constexpr std::uint32_t k_room = 1U << k_room_bits;
    static constexpr unsigned k_site_bits = 9;
    static_assert(record::k_sites < 1U << k_site_bits);
    // Since when, and the site plus 1; 0: free.
    std::array<std::atomic<std::uint64_t>, k_room> words_{};
};

}  // namespace sluice::plugin
