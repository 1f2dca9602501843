// SPDX-License-Identifier: BSD-3-Clause
/// Finds the name for a "did you mean …": the known name that is the fewest keystrokes away.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace sluice::base {

/// Returns the number of letters to insert, delete or replace to turn `a` into `b` (Levenshtein's distance).
std::size_t edit_distance(std::string_view a, std::string_view b);

/// Returns the first of the nearest names in `known`; empty if `known` is empty.
std::string_view nearest(std::string_view name, std::span<std::string_view const> known);

}  // namespace sluice::base
