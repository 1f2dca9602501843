// SPDX-License-Identifier: BSD-3-Clause
/// Which launches `sluice bench fluctuation` makes. A launch is one case on one bed; in a node of limited memory it is
/// one method alone, because it may be killed.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace sluice::cli {

/// The user's choice; an empty list means the usual values of that bed.
struct FluctuationChoice {
    std::vector<std::string> cases;  ///< jacobi7, jacobi13, micro, policies, adaptation, outofcore
    std::vector<std::string> mpis;
    std::vector<int> ranks;
    std::vector<std::string> beds;  ///< local, limited, cluster, limited_cluster, simulated
    std::vector<int> base_mib;
    std::vector<int> tokens;
    std::vector<std::string> methods;
    int node_mib = 192;
    int edge = 32;
    int steps = 8;
    int pairs = 5;
    double compute_us = 100;
};

struct FluctuationLaunch {
    std::string mpi;
    std::string bed;
    std::string name;  ///< the name of the case
    int ranks = 2;
    int base_mib = 0;  ///< MiB of cubes on each rank
    std::array<int, 3> cubes{};
    int edge = 32;
    std::string deal = "checkerboard";
    std::vector<std::string> methods;
    int steps = 8;
    int warm_up = 2;
    int pairs = 5;
    double compute_us = 0;
    int nodes = 1;          ///< with a limit
    int node_mib = 0;       ///< limit of each node on beds limited and limited_cluster; 0: none
    int neighbour_mib = 0;  ///< memory that another process takes meanwhile
    int time_limits = 1;    ///< factor on the longest time that one run may take
    /// Its rows are compared with those of the same methods in a launch without a limit.
    bool after_one_without_limit = false;
};

/// Returns a box of that number of cubes or a few more, with even numbers along each axis, so that on a checkerboard no
/// face stays on its rank.
std::array<int, 3> box_of(std::uint64_t cubes);

/// Returns the launches in the order in which they run. `mpis`: the MPIs found.
std::vector<FluctuationLaunch> plan_fluctuation(FluctuationChoice const& choice, std::vector<std::string> const& mpis);

}  // namespace sluice::cli
