#include "redistribute/strategies/token/settle.hpp"

#include <algorithm>
#include <bit>

namespace sluice::redistribution {

void Settling::pick_up(Hand& hand, std::uint64_t slot) {
    hand.to = place_of(slot);
    copy_block(hand.block.data(), at(slot), bytes_);
    places_.set_state(slot, static_cast<unsigned>(ScanState::vacant));
    ++copied_;
}

void Settling::put_down(Hand const& hand, std::uint64_t slot) {
    copy_block(at(slot), hand.block.data(), bytes_);
    places_.set(slot, {0, static_cast<std::int64_t>(hand.to)});
    places_.set_state(slot, static_cast<unsigned>(ScanState::landed));
}

void Settling::swap(Hand& hand, std::uint64_t slot) {
    std::uint64_t const next = place_of(slot);
    std::array<std::byte, k_most_bytes> held;
    copy_block(held.data(), at(slot), bytes_);
    copy_block(at(slot), hand.block.data(), bytes_);
    copy_block(hand.block.data(), held.data(), bytes_);
    places_.set_index(slot, hand.to);
    hand.to = next;
    ++copied_;
}

void Settling::follow_cycles(std::uint64_t first, std::uint64_t last) {
    Hand hand;
    for (std::uint64_t slot = first; slot < last; ++slot) {
        if (is_vacant(slot) || place_of(slot) == slot) continue;
        pick_up(hand, slot);
        while (!is_vacant(hand.to))
            swap(hand, hand.to);
        put_down(hand, hand.to);
    }
}

/// Brings each block of [first, last) into the bucket of its place; a bucket has 2^shift slots.
void Settling::partition(std::uint64_t first, std::uint64_t last, unsigned shift) {
    std::array<std::uint64_t, k_buckets> fill;  // of each bucket: all slots before are known to be right
    std::size_t const buckets = static_cast<std::size_t>((last - first - 1) >> shift) + 1;
    auto const bucket_of = [first, shift](std::uint64_t slot) { return (slot - first) >> shift; };
    for (std::size_t bucket = 0; bucket < buckets; ++bucket)
        fill[bucket] = first + (std::uint64_t{bucket} << shift);

    Hand hand;
    for (std::uint64_t slot = first; slot < last; ++slot) {
        if (is_vacant(slot) || bucket_of(place_of(slot)) == bucket_of(slot)) continue;
        pick_up(hand, slot);
        for (;;) {
            // A bucket has a slot for each block that belongs into it, so one that is vacant or wrong is always found.
            std::uint64_t const bucket = bucket_of(hand.to);
            std::uint64_t& to = fill[bucket];
            while (!is_vacant(to) && bucket_of(place_of(to)) == bucket)
                ++to;
            std::uint64_t const target = to++;
            __builtin_prefetch(at(target + 2), 1);
            if (is_vacant(target)) {
                put_down(hand, target);
                break;
            }
            swap(hand, target);
        }
    }
}

void Settling::settle(std::uint64_t first, std::uint64_t last) {
    if (last - first <= 2 || (last - first) * bytes_ <= cached_bytes_) {
        follow_cycles(first, last);
        return;
    }
    std::uint64_t const slots_in_bucket =
        std::max<std::uint64_t>(2, std::bit_ceil((last - first + k_buckets - 1) / k_buckets));
    partition(first, last, static_cast<unsigned>(std::countr_zero(slots_in_bucket)));
    for (std::uint64_t bucket = first; bucket < last; bucket += slots_in_bucket)
        settle(bucket, std::min(last, bucket + slots_in_bucket));
}

std::uint64_t Settling::run() {
    if (places_.size() > 0) settle(0, places_.size());
    return copied_;
}

}  // namespace sluice::redistribution
