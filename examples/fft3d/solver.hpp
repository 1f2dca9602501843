// SPDX-License-Identifier: BSD-3-Clause
/// The solver, which is the same for all forms of the program: each brings its own transposes.
#pragma once

#include <mpi.h>

#include "problem.hpp"
#include "transform.hpp"

namespace fft3d {

/// How one form of the program keeps its array and transposes it.
class Transposes {
  public:
    virtual ~Transposes() = default;
    virtual Share planes() const = 0;  ///< of z, before
    virtual Share lines() const = 0;   ///< of y, afterwards
    virtual LineOrder line_order() const { return LineOrder::z_innermost; }
    /// The part of this rank now: planes, as [z][y][x], or lines, in their order.
    virtual Complex* data() = 0;
    virtual void forth() = 0;  ///< from planes to lines
    virtual void back() = 0;
    /// Most bytes of messages in buffers at once until now, in MiB, if the form knows.
    virtual double message_mib() const { return 0; }
};

/// The problem that the arguments of main name, S if they do not; ends the program for another name.
Problem const& problem_of(int argc, char** argv);

/// What became of it; figures of the worst rank, for the time steps alone.
struct Solution {
    bool is_right = true;  ///< all checksums are the published ones
    double seconds = 0;
    double peak_mib = 0;  ///< of the whole process until now
    double major_faults = 0;
    double message_mib = 0;  ///< most bytes of messages in buffers at once, in the forms that know
};

/// Takes the time of the time steps. Collective at both ends.
class Watch {
  public:
    Watch();
    /// Writes the figures of the worst rank. `solution.message_mib` is that of this rank before.
    void end(Solution& solution) const;

  private:
    double faults_;
    double start_;
};

/// Solves the problem. Collective. Rank 0 calls `told` after each time step.
Solution solve(Problem const& problem, Transposes& transposes, void (*told)(std::size_t step, Complex sum));

/// For `told`: prints the checksum.
void print_sum(std::size_t step, Complex sum);
/// Prints a line on rank 0. Returns the exit code.
int report(Problem const& problem, char const* form, Solution const& solution);

}  // namespace fft3d
