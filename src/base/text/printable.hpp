// SPDX-License-Identifier: BSD-3-Clause
/// Names of files, programs and records are given by others and may hold any bytes. A terminal obeys some of them.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace sluice::base {

/// Returns the text as valid UTF-8 of one line: each byte that is no UTF-8, each control character (also ESC, a new
/// line, and U+0080 to U+009F, which terminals obey like ESC) and each character that reverses the direction of a text
/// or ends its line becomes '?'.
std::string printable(std::string_view text);
/// Does the same in place and returns the number of bytes that are left. Does not allocate.
std::size_t make_printable(std::span<char> text) noexcept;

}  // namespace sluice::base
