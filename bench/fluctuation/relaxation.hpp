// SPDX-License-Identifier: BSD-3-Clause
/// Measures several methods in turns on one box of cubes, and checks that all methods leave the same bits.
#pragma once

#include <cstdint>
#include <vector>

#include "fluctuation/method.hpp"

namespace sluice::bench {

struct RelaxationPlan {
    jacobi::Box box;
    int steps = 8;                      ///< steps that are measured each time
    int warm_up = 2;                    ///< steps before them, each time
    int pairs = 5;                      ///< runs of each method, after one more to warm up
    double compute_seconds = 0;         ///< simulated time that a step of a cube takes
    std::uint64_t neighbour_bytes = 0;  ///< memory that another process takes and gives back meanwhile
    bool tell_steps = false;            ///< rank 0 prints {"step":…} after each step, so that a killed run shows how
                                        ///< far it came
};

/// The measurements of one method, the same on every rank.
struct MeasuredMethod {
    FluctuationMethod method;
    bool beside_neighbour = false;
    std::vector<double> seconds;         ///< of a step: the mean of each run; if there is one run only, all its steps
    std::uint64_t counted_bytes = 0;     ///< by the method's own count, on the worst rank
    std::uint64_t resident_bytes = 0;    ///< growth of VmHWM in the first run, on the worst rank
    double major_faults = 0;             ///< in a step, of all ranks together
    std::uint64_t checksum = 0;          ///< of all points; empty if one part of a step is left out
    std::uint64_t neighbour_rounds = 0;  ///< how often the neighbour had its bytes during these runs

    std::uint64_t extra_bytes() const { return counted_bytes > resident_bytes ? counted_bytes : resident_bytes; }
};

/// Collective. Runs each method once, to measure its memory and to warm up, then makes `pairs` rounds in each of which
/// every method runs once, in the given order; if `pairs` is 1, each method makes that one run only. With a neighbour
/// each method runs twice in a round: without and with it. Throws Error(internal) on every rank if results differ.
std::vector<MeasuredMethod> measure_in_turns(RelaxationPlan const& plan, std::vector<FluctuationMethod> const& methods);

/// Returns the bytes of faces that the rank with the most faces sends to others in a step.
std::uint64_t bytes_moved(jacobi::Box const& box);

}  // namespace sluice::bench
