// SPDX-License-Identifier: BSD-3-Clause
/// The rows that the benchmark prints: one JSON object on each line, with the fields that all benchmarks share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "madre/experiment.hpp"
#include "madre/lower_bound.hpp"
#include "madre/options.hpp"
#include "sluice/redistribute.hpp"

namespace sluice::bench {

/// The result of one method on one point.
struct Outcome {
    double seconds = 0;  ///< simulated, from the first rank's start to the last rank's end
    std::uint64_t rounds = 0;
    std::uint64_t extra_bytes = 0;  ///< on the worst rank
    std::uint64_t bytes_moved = 0;  ///< over the network, of all ranks
    std::uint64_t blocks_arrived = 0;
    std::vector<StepTime> steps;  ///< of rank 0
};

/// `link_rate`: bytes in a second that one link really carried in this simulation, to be compared with the nominal
/// rate.
void print_bound(Options const& options, Experiment const& experiment, LowerBound const& bound, double link_rate);
/// The row of the method and the row of its ratio to the bound.
void print_outcome(Options const& options, Experiment const& experiment, std::string const& method,
                   Outcome const& outcome, LowerBound const& bound);

}  // namespace sluice::bench
