// SPDX-License-Identifier: BSD-3-Clause
/// The summary for a terminal: one screen.
#pragma once

#include <string>
#include <vector>

#include "report/summary/summary.hpp"

namespace sluice::report {

inline constexpr std::size_t k_text_lines = 24;
/// With "sluice: " in front, as at the end of a job, a line has 100 columns.
inline constexpr std::size_t k_text_columns = 92;

/// Returns at most k_text_lines lines of k_text_columns columns, and those of services. For a job that did not end, the
/// memory that each rank held and the call it was in come first.
std::string to_screen(Summary const& summary);

/// Returns a line for each service that counted anything, "checks of collectives: 12 calls compared", without the
/// counters that are 0.
std::vector<std::string> service_lines(Summary const& summary);

/// Returns "ended" if all ranks did that left a record, "still running" if all ranks that did not end live, else "did
/// not end".
std::string outcome_text(Summary const& summary);

/// Returns "ended", or the ranks by state: "ranks 0-2 gone, rank 3 aborted".
std::string state_text(Summary const& summary);

}  // namespace sluice::report
