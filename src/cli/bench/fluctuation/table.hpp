// SPDX-License-Identifier: BSD-3-Clause
/// Draws the rows of the benchmark `fluctuation` for people (docs/benchmarks.md says what they mean).
#pragma once

#include <string>
#include <vector>

#include "cli/bench/table.hpp"

namespace sluice::cli {

/// Of the case, the ranks and the bed that a row belongs to, and the names of columns. Rows with the same head stand in
/// one table.
std::string fluctuation_head(Row const& row);

/// A line for each method's row among those of one launch, beside its ratio.
std::string fluctuation_lines(std::vector<Row> const& rows);

/// "fetch, 8 tokens"
std::string fluctuation_method(Row const& row);

}  // namespace sluice::cli
