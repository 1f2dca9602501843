// SPDX-License-Identifier: BSD-3-Clause
/// Where the ranks' time went, and when they had their peak. Shares are of the time after MPI_Init, whose own time is
/// told apart.
#pragma once

#include <cstdint>
#include <string>

#include "report/summary/summary.hpp"

namespace sluice::report {

/// Returns the time that all ranks together lived after MPI_Init, in nanoseconds.
double ns_after_init(Summary const& summary);

/// Returns when the highest peak was: "at 8.00 s, in MPI_Send at f+0x3 (app)", "before MPI_Init", or that it was
/// between two samples, with the one next to it.
std::string when_of_peak(Summary const& summary);

/// Returns the line of a report on time.
std::string time_line(Summary const& summary);

/// What receives that returned before their data had come won and cost, over all places and ranks.
struct Hidden {
    std::uint64_t receives = 0;
    std::uint64_t hidden_ns = 0;
    std::uint64_t left_ns = 0;
    std::uint64_t moving_ns = 0;
};

Hidden hidden_of(Summary const& summary);

/// Returns the same in words, with the place that hid most; empty if no receive returned early.
std::string hidden_line(Summary const& summary);

/// Returns "4 ranks share the 2 processors of node 0" if a node has more ranks than processors, or an empty text.
std::string crowded_text(Summary const& summary);

}  // namespace sluice::report
