// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "cli/bench/table.hpp"

namespace sluice::cli {

/// Draws the rows of one launch of `alltoall`: a line for each kind of buffers and number of bytes, with the time of
/// each way, the choice of the rule, its ratios to the MPI's own call and to the best way, and the memory of both.
std::string alltoall_table(std::vector<Row> const& rows);

}  // namespace sluice::cli
