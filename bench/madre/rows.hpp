// SPDX-License-Identifier: BSD-3-Clause
/// The rows that the bench prints: one JSON object a line, fields as in every benchmark.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "madre/experiment.hpp"
#include "madre/lower_bound.hpp"
#include "madre/options.hpp"

namespace sluice::bench {

/// What one method did on one point.
struct Outcome {
    double seconds = 0;  ///< simulated, from the first rank's start to the last rank's end
    std::uint64_t rounds = 0;
    std::uint64_t extra_bytes = 0;  ///< the worst rank
    std::uint64_t bytes_moved = 0;  ///< over the network, all ranks
    std::uint64_t blocks_arrived = 0;
    std::vector<std::pair<std::string, double>> steps;  ///< of rank 0
};

/// `link_rate`: bytes a second that one link really carried in this simulation, for the reader to compare with the
/// nominal.
void print_bound(Options const& options, Experiment const& experiment, LowerBound const& bound, double link_rate);
/// The row of the method and the row of its ratio to the bound.
void print_outcome(Options const& options, Experiment const& experiment, std::string const& method,
                   Outcome const& outcome, LowerBound const& bound);

}  // namespace sluice::bench
