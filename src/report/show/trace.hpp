// SPDX-License-Identifier: BSD-3-Clause
/// A timeline that Perfetto and chrome://tracing open: for each rank that a summary has in full, a track of long calls
/// and a counter of memory by owner.
#pragma once

#include <ostream>

#include "report/summary/summary.hpp"

namespace sluice::report {

/// Writes Chrome's Trace Event Format: JSON with one event in each line. Times count from each rank's MPI_Init.
void write_trace(Summary const& summary, std::ostream& out);

}  // namespace sluice::report
