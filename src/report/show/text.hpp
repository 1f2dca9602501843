// SPDX-License-Identifier: BSD-3-Clause
/// The summary for a terminal: one screen.
#pragma once

#include <string>
#include <vector>

#include "report/summary/summary.hpp"

namespace sluice::report {

inline constexpr std::size_t k_text_lines = 24;
/// With "sluice: " in front, as at the end of a job, a line has 100.
inline constexpr std::size_t k_text_columns = 92;

/// At most k_text_lines lines of k_text_columns columns; for a job that did not end, who held how much and where it was
/// comes first.
std::string to_screen(Summary const& summary);

/// "ended", "still running" where all that did not end live, else "did not end".
std::string outcome_text(Summary const& summary);

/// "ended", or the ranks by state: "ranks 0-2 gone, rank 3 aborted".
std::string state_text(Summary const& summary);

}  // namespace sluice::report
