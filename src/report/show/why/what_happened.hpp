// SPDX-License-Identifier: BSD-3-Clause
/// Explains with numbers why a job did not end: which rank ended first and how, which ranks are gone, how much memory
/// each held, in which call, and since when it grew.
#pragma once

#include <string>
#include <vector>

#include "report/summary/summary.hpp"

namespace sluice::report {

/// Returns the cause that a report of a job begins with: the lack of memory in full, or how the first rank ended in
/// short; empty if neither is known.
std::string cause_of_end(Summary const& summary);

/// Returns a few sentences, the most telling first; empty for a job that ended.
std::vector<std::string> what_happened(Summary const& summary);

}  // namespace sluice::report
