// SPDX-License-Identifier: BSD-3-Clause
/// What calls with readings of their own say of the others of their place. Where only a stretch of several calls was
/// read, its time tells which call ran, not which took memory:
///
///     | Startall: 272 KiB | Waitall ................................ |     most of the time is Waitall's, and no
///     memory
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "record/record.hpp"

namespace sluice::record {

inline constexpr std::uint64_t k_enough_reads = 8;

/// The most bytes that all calls of the site can have taken: a few times what those did that were read, without some
/// pages, which come by chance. Nothing if too few were.
inline std::optional<std::uint64_t> most_taken(std::uint64_t calls, std::uint64_t read_calls,
                                               std::uint64_t read_bytes) noexcept {
    constexpr double times = 4;
    constexpr std::uint64_t chance = 16 << 10;
    if (read_calls < k_enough_reads) return std::nullopt;
    double const each =
        static_cast<double>(read_bytes - std::min(read_bytes, chance)) / static_cast<double>(read_calls);
    return static_cast<std::uint64_t>(times * each * static_cast<double>(calls));
}

}  // namespace sluice::record
