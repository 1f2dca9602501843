// SPDX-License-Identifier: BSD-3-Clause
/// The last step of the scan form: every block is on its right rank, and each rank permutes its own slots in place.
///
/// Each step of a cycle misses the caches and the TLB, and the next step is known only after it. So several cycles are
/// followed at once, each by a hand that carries one block; while the others make their steps, the memory that a hand
/// needs next is being loaded.
///
///     hand 0: block for slot 17       hand 1: block for slot 4       ...       a step: exchange with the block in that
///     hand 0: block for slot  9       hand 1: block for slot 30      ...       slot; if the slot is vacant, put down
///
/// Two hands may follow the same cycle: each ends where the other began, for that slot is vacant.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "redistribution/address_map.hpp"
#include "redistribution/strategies/token/scan_state.hpp"

namespace sluice::redistribution {

class Settling {
  public:
    /// `places[s]`: index of the block in slot s, if its state is landed. No slot is leaving. `room`: for the blocks
    /// that are carried, at least one; 16 are better.
    Settling(std::byte* data, std::uint64_t block_bytes, AddressMap& places, std::span<std::byte> room)
        : data_(data),
          bytes_(block_bytes),
          places_(places),
          hands_(std::min<std::size_t>(k_most_hands, room.size() / block_bytes)) {
        for (std::size_t i = 0; i < hands_; ++i)
            hand_[i].block = room.data() + i * block_bytes;
    }

    /// Brings every landed block to its place. Returns the number of blocks copied.
    std::uint64_t run();

  private:
    static constexpr std::size_t k_most_hands = 16;

    struct Hand {
        std::byte* block = nullptr;
        std::uint64_t to = 0;
    };

    bool is_vacant(std::uint64_t slot) const noexcept {
        return places_.state(slot) == static_cast<unsigned>(ScanState::vacant);
    }
    std::uint64_t place_of(std::uint64_t slot) const noexcept {
        return static_cast<std::uint64_t>(places_[slot].index);
    }
    std::byte* at(std::uint64_t slot) const noexcept { return data_ + slot * bytes_; }

    bool pick_up(Hand& hand);
    void exchange(Hand& hand);
    void put_down(Hand const& hand);
    /// Forced inline because GCC 12 drops calls of functions that only prefetch.
    [[gnu::always_inline]] void fetch_target(Hand const& hand) const noexcept {
        places_.prefetch(hand.to);
        // The processor detects the stream of a longer block by itself.
        for (std::uint64_t line = 0; line < std::min<std::uint64_t>(bytes_, 256); line += 64)
            __builtin_prefetch(at(hand.to) + line, 1);
        __builtin_prefetch(at(hand.to) + bytes_ - 1, 1);  // arrays need not begin at a cache line
    }

    std::byte* data_;
    std::uint64_t bytes_;
    AddressMap& places_;
    std::size_t hands_;
    std::array<Hand, k_most_hands> hand_;
    std::uint64_t next_ = 0;  // first slot not yet searched for a block to pick up
    std::uint64_t copied_ = 0;
};

}  // namespace sluice::redistribution
