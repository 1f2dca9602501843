// SPDX-License-Identifier: BSD-3-Clause
/// Sluice's part of a rank's peak: a program that does nothing but MPI_Init and MPI_Finalize, with and without `sluice
/// run`, and what the kernel says that each of its ranks held at most.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/bench/overhead/rows.hpp"

namespace sluice::cli {

/// Takes the lines "peak RANK KIB" of any number of launches.
class PeakLines {
  public:
    void take(std::string const& line);
    /// The median over the launches, in KiB, by rank.
    std::map<int, double> medians() const;

  private:
    std::map<int, std::vector<double>> peaks_;
};

/// "watched-plain", in KiB: the median of a rank's peaks with Sluice less that without, for the rank that has most and
/// the rank that has least. `report`: with --report.
OverheadRow memory_row(OverheadPlace const& place, bool report, PeakLines const& watched, PeakLines const& plain);

/// Launches the program at each of these numbers of ranks, `launches` times in each way. Throws if a launch fails.
std::vector<OverheadRow> measure_memory(std::string const& mpi, std::vector<int> const& ranks, int launches);

std::string memory_table(std::string const& mpi, std::vector<OverheadRow> const& rows);

}  // namespace sluice::cli
