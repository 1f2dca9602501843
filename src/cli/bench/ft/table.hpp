// SPDX-License-Identifier: BSD-3-Clause
/// Draws the rows of the benchmark `ft` for people (docs/benchmarks.md says what they mean).
#pragma once

#include <string>
#include <vector>

#include "cli/bench/ft/plan.hpp"
#include "cli/bench/table.hpp"

namespace sluice::cli {

/// The names of the columns of ft_line().
std::string ft_columns();

/// A line for one launch.
std::string ft_line(FtCell const& cell, Row const& row);

/// Seconds and major faults of a whole table, with a line for each form and a column for each limit or number of tasks;
/// the outcome in place of a figure that there is none of. `rows` are those of the cells; null: a failure.
std::string ft_matrices(FtTable const& table, std::vector<Row> const& rows);

}  // namespace sluice::cli
