// SPDX-License-Identifier: BSD-3-Clause
/// What a shared map holds for each slot: where the block comes from that belongs there, and what has become of the
/// block that was in the slot. All ranks of the node read and change it.
///
///     31/63      30/62                                        0
///     +---------+---------+----------+------------------------+
///     | claimed | deposit | rank + 1 |         index          |     0: no block comes to this slot
///     +---------+---------+----------+------------------------+
///
///     claimed   the block has left the slot, or is leaving it: one rank alone has set this bit
///     deposit   the rest of the word is the vacant slot for the block that was taken out of this slot
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace sluice::redistribution {

/// Bits of a rank and an index in a word of 4 bytes.
inline constexpr unsigned k_bits_of_short_word = 30;

inline unsigned bits_of_ranks(int ranks) noexcept {
    return static_cast<unsigned>(std::bit_width(static_cast<unsigned>(ranks)));
}
/// Whether words of 4 bytes suffice.
inline bool are_words_short(int ranks, std::uint64_t most_slots) noexcept {
    return bits_of_ranks(ranks) + static_cast<unsigned>(std::bit_width(most_slots)) <= k_bits_of_short_word;
}

/// The words of all ranks, by rank.
template <typename Word>
class SharedWords {
  public:
    static constexpr unsigned k_bits = std::numeric_limits<Word>::digits;
    static constexpr Word k_claimed = Word{1} << (k_bits - 1);
    static constexpr Word k_deposit = Word{1} << (k_bits - 2);
    static constexpr Word k_address = k_deposit - 1;

    SharedWords(std::span<std::byte* const> bases, std::size_t head, int ranks)
        : bases_(bases), head_(head), index_bits_(k_bits - 2 - bits_of_ranks(ranks)) {}

    Word address(int rank, std::uint64_t index) const noexcept {
        return static_cast<Word>((static_cast<Word>(rank + 1) << index_bits_) | static_cast<Word>(index));
    }
    std::size_t rank_of(Word address) const noexcept {
        return static_cast<std::size_t>((address & k_address) >> index_bits_) - 1;
    }
    std::uint64_t index_of(Word address) const noexcept { return address & ((Word{1} << index_bits_) - 1); }

    Word* at(std::size_t rank, std::uint64_t index) const noexcept {
        return reinterpret_cast<Word*>(bases_[rank] + head_) + index;
    }
    Word* at(Word address) const noexcept { return at(rank_of(address), index_of(address)); }
    std::atomic_ref<Word> word(Word address) const noexcept { return std::atomic_ref<Word>(*at(address)); }

  private:
    std::span<std::byte* const> bases_;
    std::size_t head_;
    unsigned index_bits_;
};

}  // namespace sluice::redistribution
