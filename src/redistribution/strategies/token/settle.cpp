// SPDX-License-Identifier: BSD-3-Clause
#include "redistribution/strategies/token/settle.hpp"

#include <utility>

namespace sluice::redistribution {

/// Picks up the next block that is not in its place; returns false if there is none.
bool Settling::pick_up(Hand& hand) {
    while (next_ < places_.size() && (is_vacant(next_) || place_of(next_) == next_))
        ++next_;
    if (next_ == places_.size()) return false;
    std::uint64_t const slot = next_++;
    hand.to = place_of(slot);
    copy_block(hand.block, at(slot), bytes_);
    places_.set_state(slot, static_cast<unsigned>(ScanState::vacant));
    ++copied_;
    fetch_target(hand);
    return true;
}

void Settling::put_down(Hand const& hand) {
    copy_block(at(hand.to), hand.block, bytes_);
    places_.set(hand.to, {0, static_cast<std::int64_t>(hand.to)});
    places_.set_state(hand.to, static_cast<unsigned>(ScanState::landed));
}

void Settling::exchange(Hand& hand) {
    std::uint64_t const slot = hand.to;
    hand.to = place_of(slot);
    swap_blocks(hand.block, at(slot), bytes_);
    places_.set_index(slot, slot);
    ++copied_;
    fetch_target(hand);
}

std::uint64_t Settling::run() {
    std::size_t busy = 0;
    while (busy < hands_ && pick_up(hand_[busy]))
        ++busy;
    while (busy > 0)
        for (std::size_t i = 0; i < busy; ++i) {
            Hand& hand = hand_[i];
            if (!is_vacant(hand.to)) {
                exchange(hand);
                continue;
            }
            put_down(hand);
            if (!pick_up(hand)) std::swap(hand, hand_[--busy]);
        }
    return copied_;
}

}  // namespace sluice::redistribution
