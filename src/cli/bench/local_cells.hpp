// SPDX-License-Identifier: BSD-3-Clause
/// Benchmarks that have one launch on this machine for each MPI, number of ranks and case.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/bench/table.hpp"

namespace sluice::cli {

struct LocalCells {
    std::string program;
    std::vector<std::string> mpis;   ///< empty: those found
    std::vector<int> ranks;          ///< empty: 2, 4 and 8; MPICH, whose waiting ranks spin, 2 and 4
    std::vector<std::string> cases;  ///< of the program's --case
    std::vector<std::string> arguments;
    double minutes;  ///< no launch begins after them; 0: no limit
    bool json;       ///< rows instead of a table for each launch
    std::function<std::string(std::vector<Row> const&)> table;
};

/// Returns the exit code.
int run_local_cells(LocalCells const& cells);

}  // namespace sluice::cli
