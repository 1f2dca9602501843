// SPDX-License-Identifier: BSD-3-Clause
/// Draws the rows of the benchmark `overlap` for people (docs/benchmarks.md says what they mean).
#pragma once

#include <string>
#include <vector>

#include "cli/bench/table.hpp"

namespace sluice::cli {

/// Draws the rows of one MPI on one bed: a table for each case, and below them latency and wake-ups.
std::string overlap_table(std::vector<Row> const& rows);

}  // namespace sluice::cli
