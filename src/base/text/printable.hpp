// SPDX-License-Identifier: BSD-3-Clause
/// Names of files, programs and records are given by others and may hold any bytes. A terminal obeys some of them.
#pragma once

#include <string>
#include <string_view>

namespace sluice::base {

/// Returns the text as valid UTF-8 of one line: each byte that is no UTF-8, each control character (also ESC, a new
/// line, and U+0080 to U+009F, which terminals obey like ESC) and each character that reverses the direction of a text
/// or ends its line becomes '?'.
std::string printable(std::string_view text);

}  // namespace sluice::base
