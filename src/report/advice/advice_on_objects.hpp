// SPDX-License-Identifier: BSD-3-Clause
/// What the job says of objects of MPI that were made and never freed: advice, and a line for each kind.
#pragma once

#include <string>
#include <vector>

#include "report/summary/summary.hpp"

namespace sluice::report {

/// A sentence for each kind of which a rank left many, or which took much memory. Empty for a job that did not end: what
/// is open there may be freed later.
std::vector<std::string> about_objects(Summary const& summary);

/// Of each kind of which some were left: how many, by the rank that left most, and the memory of all it made.
std::vector<std::string> lines_on_objects(Summary const& summary);

}  // namespace sluice::report
