// SPDX-License-Identifier: BSD-3-Clause
/// The bytes from rank to rank, as far as one rank's record knows them.
#pragma once

#include <vector>

#include "report/summary/summary.hpp"

namespace sluice::report {

/// Returns the rank's row and column of the matrix without empty cells: what it sent, its part for each other member of
/// a communicator, and what it received in calls that only the receiver counts. Sorted by from and to.
std::vector<Cell> cells_of(record::RankRecord const& record);

}  // namespace sluice::report
