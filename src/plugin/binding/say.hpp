// SPDX-License-Identifier: BSD-3-Clause
/// Lines on standard error that begin with "sluice: ". They have no control characters, never end or block the program,
/// and are dropped if standard error is full and its reader takes nothing for seconds.
#pragma once

#include <string_view>

namespace sluice::plugin {

/// Nothing if kernel::is_quiet().
[[gnu::format(printf, 1, 2)]] void say(char const* format, ...);

/// Says the same if no other rank of this job on this node has said it.
[[gnu::format(printf, 1, 2)]] void say_once_a_node(char const* format, ...);

/// Says a text of several lines in one piece.
void say_lines(std::string_view text);

}  // namespace sluice::plugin
