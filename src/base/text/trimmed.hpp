// SPDX-License-Identifier: BSD-3-Clause
/// Text without the white space around it.
#pragma once

#include <string_view>

namespace sluice::base {

/// `text` without spaces, tabs and carriage returns at its ends.
constexpr std::string_view trimmed(std::string_view text) {
    constexpr std::string_view k_space = " \t\r";
    std::size_t const begin = text.find_first_not_of(k_space);
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(k_space) - begin + 1);
}

}  // namespace sluice::base
