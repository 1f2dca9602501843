/// The last step of the scan form: every block is on its right rank, and each rank permutes its own slots in place.
///
/// Going straight to a block's place would miss the caches and the TLB at each block. So a range too large for the
/// cache is first partitioned in place into buckets of places (an "American flag" sort: P. McIlroy, K. Bostic, M.
/// McIlroy, 1993), each bucket again if need be; inside a bucket that fits the cache, cycles are followed.
///
///   range   | bucket 0      | bucket 1      | ...         a bucket: | right right right | vacant, wrong or right ... |
///                                                                                       ^ fill: first not known right
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "redistribute/address_map.hpp"
#include "redistribute/strategies/token/scan_state.hpp"

namespace sluice::redistribution {

class Settling {
  public:
    /// Blocks of at most this many bytes.
    static constexpr std::uint64_t k_most_bytes = 256;

    /// `places[s]`: index of the block in slot s, where its state is landed. No slot is leaving. `cached_bytes`: a
    /// bucket of that size stays in the second-level cache.
    Settling(std::byte* data, std::uint64_t block_bytes, AddressMap& places, std::uint64_t cached_bytes = 768 << 10)
        : data_(data), bytes_(block_bytes), places_(places), cached_bytes_(cached_bytes) {}

    /// Brings every landed block to its place. Returns blocks copied.
    std::uint64_t run();

  private:
    static constexpr std::size_t k_buckets = 256;

    /// What is being carried from slot to slot.
    struct Hand {
        alignas(64) std::array<std::byte, k_most_bytes> block;
        std::uint64_t to = 0;
    };

    bool is_vacant(std::uint64_t slot) const noexcept {
        return places_.state(slot) == static_cast<unsigned>(ScanState::vacant);
    }
    std::uint64_t place_of(std::uint64_t slot) const noexcept {
        return static_cast<std::uint64_t>(places_[slot].index);
    }
    std::byte* at(std::uint64_t slot) const noexcept { return data_ + slot * bytes_; }

    void pick_up(Hand& hand, std::uint64_t slot);
    void put_down(Hand const& hand, std::uint64_t slot);
    void swap(Hand& hand, std::uint64_t slot);
    void settle(std::uint64_t first, std::uint64_t last);
    void partition(std::uint64_t first, std::uint64_t last, unsigned shift);
    void follow_cycles(std::uint64_t first, std::uint64_t last);

    std::byte* data_;
    std::uint64_t bytes_;
    AddressMap& places_;
    std::uint64_t cached_bytes_;
    std::uint64_t copied_ = 0;
};

}  // namespace sluice::redistribution
