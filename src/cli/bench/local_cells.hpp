// SPDX-License-Identifier: BSD-3-Clause
/// Benchmarks that have one launch on this machine for each MPI, number of ranks and case.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cli/bench/table.hpp"
#include "command_line/command_line.hpp"

namespace sluice::cli {

struct LocalCells {
    std::string program;
    std::vector<std::string> cases;  ///< of the program's --case
    std::vector<std::uint64_t> bytes;
    std::function<std::string(std::vector<Row> const&)> table;
    std::vector<std::string> more;  ///< words for the program

    std::vector<std::string> mpis;  ///< empty: those found
    std::vector<int> ranks;         ///< empty: 2, 4 and 8; MPICH, whose waiting ranks spin, 2 and 4
    std::string bed = "local";
    int pairs = 7;
    double minutes = 10;  ///< no launch begins after them; 0: no limit
    bool json = false;    ///< rows instead of a table for each launch
};

/// Adds the options that set bytes and what follows `more`.
void add_local_options(command_line::CommandLine& line, LocalCells& cells);

/// Throws UsageError for MPIs and numbers of ranks that do not exist. Returns the exit code.
int run_local_cells(LocalCells const& cells);

}  // namespace sluice::cli
