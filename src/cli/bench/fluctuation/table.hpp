// SPDX-License-Identifier: BSD-3-Clause
/// Draws the rows of the benchmark `fluctuation` for people (docs/benchmarks.md says what they mean).
#pragma once

#include <string>
#include <vector>

#include "cli/bench/table.hpp"

namespace sluice::cli {

/// Returns the case, the ranks and the bed of a row, and the names of columns. All rows with the same head are shown in
/// one table.
std::string fluctuation_head(Row const& row);

/// Returns a line for each method's row of one launch, with its ratio.
std::string fluctuation_lines(std::vector<Row> const& rows);

/// Returns a name such as "fetch, 8 tokens".
std::string fluctuation_method(Row const& row);

}  // namespace sluice::cli
