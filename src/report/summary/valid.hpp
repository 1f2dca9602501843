// SPDX-License-Identifier: BSD-3-Clause
/// Checks a record before its figures are used: another program may have written the file, or its writer may have been
/// killed while writing.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "record/record.hpp"

namespace sluice::report {

inline constexpr std::uint32_t k_most_ranks = 1U << 24;

/// Returns an empty text, or the part of the head that cannot be true, with the numbers.
std::string fault_of(record::RankHead const& head);

/// Returns a name from a record as valid UTF-8 without control characters, whether a zero ends it or not.
std::string clean_text(char const* text, std::size_t room);

template <std::size_t N>
std::string text_of(std::array<char, N> const& text) {
    return clean_text(text.data(), N);
}

/// A number that is none of them counts as that of a sample.
record::PeakSeen checked(record::PeakSeen seen);

/// Returns 0 … 9; a number that is not a Kind counts as other.
std::size_t kind_index(record::Kind kind);

}  // namespace sluice::report
