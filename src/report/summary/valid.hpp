// SPDX-License-Identifier: BSD-3-Clause
/// What a record must be before its figures mean anything: it may come from a file that somebody else wrote, or that
/// was being written when its writer was killed.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "record/record.hpp"

namespace sluice::report {

inline constexpr std::uint32_t k_most_ranks = 1U << 24;

/// Empty, or what in the head cannot be true, with the numbers.
std::string fault_of(record::RankHead const& head);

/// A name from a record as valid UTF-8 without control characters, whether a zero ends it or not.
std::string clean_text(char const* text, std::size_t room);

template <std::size_t N>
std::string text_of(std::array<char, N> const& text) {
    return clean_text(text.data(), N);
}

/// 0 … 9; a number that is no Kind counts as other.
std::size_t kind_index(record::Kind kind);

}  // namespace sluice::report
