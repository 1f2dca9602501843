// SPDX-License-Identifier: BSD-3-Clause
/// Who sends to whom: what one rank's record knows of it.
#pragma once

#include <vector>

#include "report/summary/summary.hpp"

namespace sluice::report {

/// The cells of the matrix from and to this rank, by from and to; only those that are not empty. What it sent, what it
/// had for each other member of a communicator, and what came to it in calls that only the receiver counts.
std::vector<Cell> cells_of(record::RankRecord const& record);

}  // namespace sluice::report
