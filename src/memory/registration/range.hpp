// SPDX-License-Identifier: BSD-3-Clause
/// A range of memory that is registered as one, and moments of the clock that the registration service is turned by.
#pragma once

#include <chrono>
#include <cstdint>

namespace sluice::memory::registration {

/// A moment of a clock that never goes back, counted from any fixed moment; also a span of time.
using Time = std::chrono::nanoseconds;

struct Range {
    std::uintptr_t begin = 0;
    std::uint64_t bytes = 0;

    constexpr std::uintptr_t end() const noexcept { return begin + bytes; }
    constexpr bool contains(Range other) const noexcept { return begin <= other.begin && other.end() <= end(); }
    constexpr bool overlaps(Range other) const noexcept { return begin < other.end() && other.begin < end(); }
    friend constexpr bool operator==(Range const&, Range const&) = default;
};

/// Kernels and adapters pin whole pages: costs and limits count those.
constexpr std::uint64_t k_pinned_page = 4096;

constexpr Range whole_pages(Range range) noexcept {
    std::uintptr_t const begin = range.begin / k_pinned_page * k_pinned_page;
    std::uintptr_t const end = (range.end() + k_pinned_page - 1) / k_pinned_page * k_pinned_page;
    return {begin, end - begin};
}

constexpr std::uint64_t pages_of(Range range) noexcept {
    return whole_pages(range).bytes / k_pinned_page;
}

}  // namespace sluice::memory::registration
