// SPDX-License-Identifier: BSD-3-Clause
/// Ways to copy one block, for loops over many.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace sluice::redistribution {

/// Through the caches, with a size that the compiler knows unless it is 0: for small blocks a call would cost time.
template <std::size_t Fixed>
struct CachedCopy {
    static constexpr bool k_streams = false;

    static void copy(std::byte* to, std::byte const* from, std::uint64_t bytes) noexcept {
        std::memcpy(to, from, Fixed != 0 ? Fixed : bytes);
    }
    static void finish() noexcept {}
};

inline constexpr std::size_t k_streamed_line = 64;

/// Whole cache lines, past the caches: a store into a line that is not there would read the line first. Pays for more
/// bytes than a cache keeps. `to` begins on a line.
template <std::size_t Fixed>
struct StreamedCopy {
#ifdef __SSE2__
    static_assert(Fixed % k_streamed_line == 0);
    static constexpr bool k_streams = true;

    static void copy(std::byte* to, std::byte const* from, std::uint64_t bytes) noexcept {
        auto* const target = reinterpret_cast<__m128i*>(to);
        auto const* const source = reinterpret_cast<__m128i const*>(from);
        for (std::size_t i = 0; i < (Fixed != 0 ? Fixed : bytes) / sizeof(__m128i); i += 4) {
            __m128i const first = _mm_loadu_si128(source + i);
            __m128i const second = _mm_loadu_si128(source + i + 1);
            __m128i const third = _mm_loadu_si128(source + i + 2);
            __m128i const fourth = _mm_loadu_si128(source + i + 3);
            _mm_stream_si128(target + i, first);
            _mm_stream_si128(target + i + 1, second);
            _mm_stream_si128(target + i + 2, third);
            _mm_stream_si128(target + i + 3, fourth);
        }
    }
    /// Before others look at the bytes.
    static void finish() noexcept {
        _mm_sfence();
    }
#else
    static constexpr bool k_streams = false;

    static void copy(std::byte* to, std::byte const* from, std::uint64_t bytes) noexcept {
        CachedCopy<Fixed>::copy(to, from, bytes);
    }
    static void finish() noexcept {}
#endif
};

}  // namespace sluice::redistribution
