// SPDX-License-Identifier: BSD-3-Clause
/// Measures several methods in turns on one box of cubes, and checks that all leave the same bits.
#pragma once

#include <cstdint>
#include <vector>

#include "fluctuation/method.hpp"

namespace sluice::bench {

struct RelaxationPlan {
    jacobi::Box box;
    int steps = 8;                      ///< that are measured each time
    int warm_up = 2;                    ///< before them, each time
    int pairs = 5;                      ///< times that each method runs, after one more to warm up
    double compute_seconds = 0;         ///< that a cube's step takes in simulated time
    std::uint64_t neighbour_bytes = 0;  ///< that another process takes and gives back meanwhile
    bool tell_steps = false;            ///< rank 0 prints {"step":…} after each: how far it came, should it be killed
};

/// The same on every rank.
struct MeasuredMethod {
    FluctuationMethod method;
    bool beside_neighbour = false;
    std::vector<double> seconds;         ///< of a step: the means of the runs; of one single run all steps
    std::uint64_t counted_bytes = 0;     ///< by its own count, the worst rank
    std::uint64_t resident_bytes = 0;    ///< growth of VmHWM in the first run, the worst rank
    double major_faults = 0;             ///< a step, all ranks together
    std::uint64_t checksum = 0;          ///< of all points; nothing where one part of a step is left out
    std::uint64_t neighbour_rounds = 0;  ///< how often the neighbour had its bytes while this ran

    std::uint64_t extra_bytes() const { return counted_bytes > resident_bytes ? counted_bytes : resident_bytes; }
};

/// Collective. One run of each for its memory and to warm up, then `pairs` rounds in each
/// of which every method runs once, in the given order; where `pairs` is 1, one run alone. With a neighbour each method
/// runs twice in a round: without and with it. Throws Error(internal) on every rank where results differ.
std::vector<MeasuredMethod> measure_in_turns(RelaxationPlan const& plan, std::vector<FluctuationMethod> const& methods);

/// Bytes of faces that the rank with the most sends to others in a step.
std::uint64_t bytes_moved(jacobi::Box const& box);

}  // namespace sluice::bench
