// SPDX-License-Identifier: BSD-3-Clause
/// How a few ranks are started on this machine, more than it has cores if need be.
#pragma once

#include <string>
#include <vector>

namespace sluice::cli {

/// What stands before the program on the command line. Not bound to cores: several ranks share one here, and where a
/// rank runs is the kernel's choice. Throws std::runtime_error where `mpi` has no launcher in PATH.
std::vector<std::string> local_launcher(std::string const& mpi, int ranks);

/// "NAME=value": lets root start Open MPI, and lets waiting ranks of both MPIs yield.
std::vector<std::string> local_environment();

}  // namespace sluice::cli
