// SPDX-License-Identifier: BSD-3-Clause
/// The form with many tasks on each rank: the virtual processes of Y. Shi, G. Zheng and L. V. Kale, "Run-time Support
/// for Controlling Communication-Induced Memory Fluctuation" (2007), section 4.2. Each has its planes and two arrays.
#pragma once

#include "sluice/context.hpp"
#include "solver.hpp"

namespace fft3d {

/// How the parts of a transpose come to the virtual processes that need them.
enum class Scheme {
    normal,  ///< all at once: packed and sent when they are there (setting send_control=off)
    tokens   ///< packed when their reader has a token for them (setting tokens, or fetch_memory)
};

/// The settings that the scheme needs.
sluice::Settings settings_for(Scheme scheme, sluice::Settings settings);

/// Solves the problem with so many virtual processes on each rank, which at most are as many as planes and lines in
/// all. Collective over the context, whose settings are those of the scheme. Rank 0 calls `told` for each time step.
Solution solve_in_tasks(sluice::Context& context, Problem const& problem, int tasks_per_rank, Scheme scheme,
                        void (*told)(std::size_t step, Complex sum));

}  // namespace fft3d
