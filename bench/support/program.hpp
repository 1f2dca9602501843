// SPDX-License-Identifier: BSD-3-Clause
/// The main function of every benchmark program with options.
#pragma once

#include <functional>

#include "command_line/command_line.hpp"

namespace sluice::bench {

/// Parses the options, without MPI so that --help needs no launcher, then calls `run` between MPI_Init and
/// MPI_Finalize. Returns the exit code: 0; 2 for wrong options. An exception of `run` is printed with the program's
/// name and ends the whole job with 1.
int run_program(int argc, char** argv, command_line::CommandLine& line, std::function<void()> const& run);

}  // namespace sluice::bench
