// SPDX-License-Identifier: BSD-3-Clause
/// Draws the rows of the benchmark `registration` for people (docs/benchmarks.md says what they mean).
#pragma once

#include <string>
#include <vector>

#include "cli/bench/table.hpp"

namespace sluice::cli {

/// Returns a block of lines for each shape: a line for each scheme, in the order of the rows.
std::string registration_table(std::vector<Row> const& rows);

}  // namespace sluice::cli
