// SPDX-License-Identifier: BSD-3-Clause
/// The solver, which is the same for all forms of the program: each brings its own transposes.
#pragma once

#include <mpi.h>

#include "problem.hpp"

namespace fft3d {

/// The planes of z that this rank has, or after a transpose the lines of y.
struct Share {
    std::int64_t first = 0;
    std::int64_t count = 0;
};

/// How one form of the program keeps its array and transposes it.
class Transposes {
  public:
    virtual ~Transposes() = default;
    virtual Share planes() const = 0;  ///< of z, before
    virtual Share lines() const = 0;   ///< of y, afterwards
    /// The part of this rank now: as [z][y][x], or as [y][x][z].
    virtual Complex* data() = 0;
    virtual void forth() = 0;  ///< from [z][y][x] to [y][x][z]
    virtual void back() = 0;
};

/// The problem that the arguments of main name, S if they do not; ends the program for another name.
Problem const& problem_of(int argc, char** argv);

/// What became of it; figures of the worst rank, for the time steps alone.
struct Solution {
    bool is_right = true;  ///< all checksums are the published ones
    double seconds = 0;
    double peak_mib = 0;  ///< of the whole process until now
    double major_faults = 0;
};

/// Solves the problem. Collective. Rank 0 calls `told` after each time step.
Solution solve(Problem const& problem, Transposes& transposes, void (*told)(std::size_t step, Complex sum));

/// For `told`: prints the checksum.
void print_sum(std::size_t step, Complex sum);
/// Prints a line on rank 0. Returns the exit code.
int report(Problem const& problem, char const* form, Solution const& solution);

}  // namespace fft3d
