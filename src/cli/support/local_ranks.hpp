// SPDX-License-Identifier: BSD-3-Clause
/// Starts a few ranks on this machine, more than it has cores if necessary.
#pragma once

#include <string>
#include <vector>

namespace sluice::cli {

/// Returns the part of the command line that precedes the program. Ranks are not bound to cores: several share one
/// here, and the kernel places them. Throws std::runtime_error if `mpi` has no launcher in PATH.
std::vector<std::string> local_launcher(std::string const& mpi, int ranks);

/// Returns "NAME=value" pairs: they let root start Open MPI, and let waiting ranks of both MPIs yield.
std::vector<std::string> local_environment();

}  // namespace sluice::cli
