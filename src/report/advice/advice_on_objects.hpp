// SPDX-License-Identifier: BSD-3-Clause
/// What the job says of objects of MPI that were made and never freed: advice, and a line.
#pragma once

#include <string>
#include <vector>

#include "report/summary/summary.hpp"

namespace sluice::report {

/// A sentence for each kind of which a rank left many, or which took much memory. Empty for a job that did not end:
/// what is open there may be freed later.
std::vector<std::string> about_objects(Summary const& summary);

/// Memory that the MPI took where objects are made and that about_objects() does not tell. Empty if it is not much.
std::string about_making(Summary const& summary);

/// How many were left of each kind, by the rank that left most, and the memory that its making took; the kind with most
/// memory first. Empty if none was left.
std::string line_on_objects(Summary const& summary);

}  // namespace sluice::report
