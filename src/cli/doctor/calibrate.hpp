// SPDX-License-Identifier: BSD-3-Clause
/// `sluice doctor --calibrate`: measures what strategy `auto` chooses by, and keeps it for the ranks of later programs.
#pragma once

#include <optional>
#include <vector>

#include "cli/bench/table.hpp"
#include "kernel/calibration/calibration.hpp"

namespace sluice::cli {

/// Returns the costs from the rows of one launch of the benchmark `redistribute` with blocks of all sizes; nothing if a
/// row lacks or is not plausible. A block that is packed costs what it costs the better of the hand-written exchanges.
std::optional<kernel::Calibration::Costs> costs_of(std::vector<Row> const& rows);

/// Measures each MPI whose benchmark is there, prints lines or rows, and writes a file for each. Returns the exit code:
/// 0, or 1 if one MPI could not be measured or its file not be written, or if there is none.
int calibrate(bool json);

}  // namespace sluice::cli
