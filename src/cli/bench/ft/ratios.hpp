// SPDX-License-Identifier: BSD-3-Clause
/// Compares the forms of the benchmark `ft` with the plain one, launch by launch: each launch of a form with that of
/// the plain form in the same turn.
#pragma once

#include <string>
#include <vector>

#include "cli/bench/ft/plan.hpp"
#include "cli/bench/table.hpp"

namespace sluice::cli {

/// The launches of each cell, in the order of the turns; null: a failure.
using FtLaunches = std::vector<std::vector<Row>>;

/// A row for each form and limit at which the plain form has seconds, too: `ratio` ("in_place/plain"), `time` with the
/// least, the median and the greatest ratio of seconds, and `pairs`. Turns in which one of both has no seconds are left
/// out.
std::vector<Row> ft_ratios(FtTable const& table, FtLaunches const& launches);
/// These rows for people; empty without rows.
std::string ft_ratio_lines(std::vector<Row> const& ratios);

/// The launch that stands for a cell: one without seconds if there is any, else that of the median; null for none.
Row ft_typical(std::vector<Row> const& launches);

}  // namespace sluice::cli
