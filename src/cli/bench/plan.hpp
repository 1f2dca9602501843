// SPDX-License-Identifier: BSD-3-Clause
/// The cells that a sweep of `redistribute` measures: a cell is one launch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sluice::cli {

struct BenchCell {
    std::string mpi;
    int ranks;
    std::string map;  ///< the name of the case
    std::uint64_t block_bytes;
};

/// The user's choice; an empty list means all.
struct BenchChoice {
    std::vector<std::string> mpis;
    std::vector<int> ranks;
    std::vector<std::string> cases;
    std::vector<std::uint64_t> block_bytes;
    bool full = false;
};

/// Returns the cells to measure: every combination of the choice. If the choice is empty and not `full`, it is all
/// cases and both MPIs, but not every combination, so that it ends within minutes on two cores: Open MPI runs the two
/// hardest cases at 2, 4 and 8 ranks and the others at 4; MPICH, whose waiting ranks spin, runs the two hardest at as
/// many ranks as there may be cores.
std::vector<BenchCell> plan_cells(BenchChoice const& choice, std::vector<std::string> const& mpis_found);

}  // namespace sluice::cli
