// SPDX-License-Identifier: BSD-3-Clause
/// An array of blocks with guard bytes on both sides, at an unaligned address.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sluice/allocate.hpp"
#include "sluice/redistribute.hpp"

namespace sluice::tests {

class GuardedArray {
  public:
    GuardedArray(std::uint64_t count, std::uint64_t block_bytes)
        : count_(count), block_bytes_(block_bytes), own_(count * block_bytes + 2 * k_guard, k_pattern), bytes_(own_) {}
    /// In memory that the other ranks of the node can map.
    GuardedArray(Context const& context, std::uint64_t count, std::uint64_t block_bytes)
        : count_(count),
          block_bytes_(block_bytes),
          shared_(allocate<std::byte>(context, count * block_bytes + 2 * k_guard)),
          bytes_(*shared_) {
        std::fill(bytes_.begin(), bytes_.end(), k_pattern);
    }
    GuardedArray(GuardedArray&&) = default;
    GuardedArray& operator=(GuardedArray&&) = delete;

    std::byte* data() noexcept { return bytes_.data() + k_guard; }
    std::byte const* data() const noexcept { return bytes_.data() + k_guard; }
    std::byte const* at(std::uint64_t slot) const noexcept { return data() + slot * block_bytes_; }
    /// Returns null for an empty array, as most programs do.
    Blocks blocks() noexcept { return {count_ > 0 ? data() : nullptr, count_, {block_bytes_}}; }
    std::uint64_t count() const noexcept { return count_; }
    std::uint64_t block_bytes() const noexcept { return block_bytes_; }

    /// Fills a slot with the bytes of block `name` of array number `array`.
    void fill(std::uint64_t slot, std::uint64_t name, std::uint64_t array) {
        std::byte* const to = data() + slot * block_bytes_;
        for (std::uint64_t i = 0; i < block_bytes_; ++i)
            to[i] = byte_of(name, array, i);
    }
    bool holds(std::uint64_t slot, std::uint64_t name, std::uint64_t array) const {
        for (std::uint64_t i = 0; i < block_bytes_; ++i)
            if (at(slot)[i] != byte_of(name, array, i)) return false;
        return true;
    }
    bool guards_are_whole() const {
        auto const whole = [](std::byte byte) { return byte == k_pattern; };
        return std::all_of(bytes_.begin(), bytes_.begin() + k_guard, whole) &&
               std::all_of(bytes_.end() - k_guard, bytes_.end(), whole);
    }

    static std::byte byte_of(std::uint64_t name, std::uint64_t array, std::uint64_t i) {
        std::uint64_t word =
            (name + 1) * 0x9e3779b97f4a7c15ULL + (array + 1) * 0xbf58476d1ce4e5b9ULL + (i / 8) * 0x94d049bb133111ebULL;
        word ^= word >> 29;
        return static_cast<std::byte>(word >> (8 * (i % 8)));
    }

  private:
    static constexpr std::ptrdiff_t k_guard = 97;
    static constexpr std::byte k_pattern{0xa5};
    std::uint64_t count_;
    std::uint64_t block_bytes_;
    std::vector<std::byte> own_;
    std::optional<NodeVector<std::byte>> shared_;
    std::span<std::byte> bytes_;  // of one of them, also after a move
};

}  // namespace sluice::tests
