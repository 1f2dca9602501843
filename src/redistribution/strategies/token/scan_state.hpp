// SPDX-License-Identifier: BSD-3-Clause
/// The states of a slot in the scan form, kept in the state bits of the forward AddressMap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace sluice::redistribution {

enum class ScanState : unsigned {
    leaving = 0,  ///< holds a block that has not been looked at or could not be sent yet
    vacant = 1,   ///< holds no block
    landed = 2,   ///< holds a block of this rank; its entry has the index where it belongs
};

/// Blocks of one cache line are so common that they are copied without a call.
inline void copy_block(std::byte* to, std::byte const* from, std::uint64_t bytes) noexcept {
    if (bytes == 64)
        std::memcpy(to, from, 64);
    else
        std::memcpy(to, from, bytes);
}

/// Swaps line by line, so that neither block is read twice.
inline void swap_blocks(std::byte* a, std::byte* b, std::uint64_t bytes) noexcept {
    constexpr std::uint64_t k_line = 64;
    std::byte held[k_line];
    std::uint64_t at = 0;
    for (; at + k_line <= bytes; at += k_line) {
        std::memcpy(held, a + at, k_line);
        std::memcpy(a + at, b + at, k_line);
        std::memcpy(b + at, held, k_line);
    }
    std::memcpy(held, a + at, bytes - at);
    std::memcpy(a + at, b + at, bytes - at);
    std::memcpy(b + at, held, bytes - at);
}

}  // namespace sluice::redistribution
