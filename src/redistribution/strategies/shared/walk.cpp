// SPDX-License-Identifier: BSD-3-Clause
#include "redistribution/strategies/shared/walk.hpp"

#include <algorithm>
#include <cstring>

#include "node/sleep_unless.hpp"
#include "redistribution/strategies/token/waiting.hpp"

namespace sluice::redistribution {

namespace {
constexpr std::size_t k_most_hands = 32;
constexpr std::uint64_t k_looks_a_turn = 512;  // slots looked at as starts before other hands act
}  // namespace

WalkMemory WalkMemory::of(Bytes staging, std::uint64_t block_bytes) {
    // Other tables of the call take the rest of the staging.
    std::uint64_t const room = staging.count / 2;
    std::uint64_t const piece = std::min(block_bytes, std::max<std::uint64_t>(1, room / 4));
    // The processor fetches the lines of a long block by itself, and few hands keep their blocks in the cache.
    std::uint64_t const useful = std::clamp<std::uint64_t>((32 << 10) / piece, 4, k_most_hands);
    std::uint64_t const hands = std::min(useful, std::max<std::uint64_t>(1, room / (piece + 128)));
    return {piece, static_cast<std::size_t>(hands)};
}

template <typename Word>
Walk<Word>::Walk(node::Node& node, WalkMemory const& memory, memory::Meter& meter)
    : rings_(node.rings()),
      rank_(static_cast<std::size_t>(node.rank())),
      saved_blocks_(memory.hands * memory.piece_bytes, meter),
      hands_(memory.hands, Hand{}, memory::MeteredAllocator<Hand>(meter)),
      patience_({.spins = node.is_crowded() ? 20U : 1000U, .yields = k_yields_before_sleep}),
      words_({}, 0, 1) {
    for (std::size_t i = 0; i < hands_.size(); ++i)
        hands_[i].saved = saved_blocks_.data() + i * memory.piece_bytes;
}

template <typename Word>
void Walk<Word>::run(SharedMap const& map, SharedSlots const& slots) {
    map_ = &map;
    words_ = map.words<Word>();
    slots_ = slots;
    looked_at_ = map.has_free_slots() ? 0 : map.slots();
    for (bool busy = true; busy;) {
        bool moved = false;
        busy = looked_at_ < 2 * map.slots();
        for (Hand& hand : hands_) {
            moved |= act(hand);
            busy |= hand.state != HandState::idle;
        }
        if (busy)
            patience_.after(moved, [this] {
                wait();
                return true;
            });
    }
}

template <typename Word>
bool Walk<Word>::act(Hand& hand) {
    switch (hand.state) {
        case HandState::walking:
            return step(hand);
        case HandState::waiting:
            return put_saved(hand);
        case HandState::idle:
            break;
    }
    return start(hand);
}

/// Free slots first: walks that begin there save nothing. Each rank begins at another part of its array, because maps
/// are often alike on all ranks, and two hands side by side on one cycle copy twice.
template <typename Word>
bool Walk<Word>::start(Hand& hand) {
    std::uint64_t const slots = map_->slots();
    std::uint64_t const first = slots / static_cast<std::uint64_t>(rings_.size()) * rank_;
    std::uint64_t const stop = std::min(looked_at_ + k_looks_a_turn, 2 * slots);
    bool const looked = looked_at_ < stop;
    while (looked_at_ < stop) {
        bool const wants_live = looked_at_ >= slots;
        std::uint64_t slot = first + (wants_live ? looked_at_ - slots : looked_at_);
        if (slot >= slots) slot -= slots;
        ++looked_at_;
        if (map_->is_live(slot) == wants_live && start_at(hand, slot)) return true;
    }
    return looked;
}

template <typename Word>
bool Walk<Word>::start_at(Hand& hand, std::uint64_t slot) {
    Word const address = words_.address(static_cast<int>(rank_), slot);
    std::atomic_ref<Word> const word = words_.word(address);
    Word source = word.load(std::memory_order_relaxed);
    if (source == 0 || source == address || (source & Words::k_claimed) != 0) return false;
    std::byte* const place = slots_.at(rank_, slot);
    if (map_->is_live(slot)) {
        source = word.fetch_or(Words::k_claimed, std::memory_order_acq_rel);
        if ((source & Words::k_claimed) != 0) return false;
        copy(hand.saved, place);
        count_local();
        hand.has_saved = true;
        hand.start = address;
        hand.start_source = source;
    }
    hand.state = HandState::walking;
    go_to(hand, address, place, source);
    return true;
}

template <typename Word>
bool Walk<Word>::step(Hand& hand) {
    if (hand.source == 0) {
        end(hand);
        return true;
    }
    Word const from = hand.source;
    std::atomic_ref<Word> const word = words_.word(from);
    // An exchange needs no look before it. What it overwrites in a claimed word is known to the hand that saved the
    // block.
    Word const old = word.exchange(Words::k_claimed, std::memory_order_acq_rel);
    if ((old & Words::k_claimed) == 0) {
        word.store(Words::k_claimed | old, std::memory_order_relaxed);
        std::byte* const source = at(from);
        copy(hand.place, source);
        if (words_.rank_of(from) == rank_ && words_.rank_of(hand.vacant) == rank_) count_local();
        go_to(hand, from, source, old);
    } else if (hand.has_saved && hand.start == from) {  // the cycle is closed
        word.store(Words::k_claimed | hand.start_source, std::memory_order_relaxed);
        copy(hand.place, hand.saved);
        count_local();
        hand.has_saved = false;
        end(hand);
    } else {
        word.store(Words::k_claimed | Words::k_deposit | hand.vacant, std::memory_order_release);
        end(hand);
    }
    return true;
}

/// The walk has ended; the saved block is put into its place if that is vacant by now.
template <typename Word>
bool Walk<Word>::put_saved(Hand& hand) {
    std::atomic_ref<Word> const word = words_.word(hand.start);
    Word const now = word.load(std::memory_order_acquire);
    if ((now & Words::k_deposit) == 0) return false;
    copy(at(now & Words::k_address), hand.saved);
    count_local();
    word.store(Words::k_claimed | hand.start_source, std::memory_order_relaxed);
    hand.has_saved = false;
    hand.state = HandState::idle;
    return true;
}

template <typename Word>
void Walk<Word>::copy(std::byte* to, std::byte const* from) const noexcept {
    if (slots_.bytes == 64)
        std::memcpy(to, from, 64);
    else
        std::memcpy(to, from, slots_.bytes);
}

/// All hands wait for walks of other ranks. These ring no bell, so the sleep ends by itself.
template <typename Word>
void Walk<Word>::wait() {
    node::sleep_unless(rings_, [] { return false; });
}

template class Walk<std::uint32_t>;
template class Walk<std::uint64_t>;

}  // namespace sluice::redistribution
