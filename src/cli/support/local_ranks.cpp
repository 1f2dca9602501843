// SPDX-License-Identifier: BSD-3-Clause
#include "cli/support/local_ranks.hpp"

#include <unistd.h>

#include <stdexcept>

#include "cli/support/installation.hpp"

namespace sluice::cli {

std::vector<std::string> local_launcher(std::string const& mpi, int ranks) {
    for (MpiBuild const& build : mpi_builds()) {
        if (build.name != mpi || build.launcher.empty()) continue;
        if (mpi == "openmpi")
            return {build.launcher.string(), "--oversubscribe", "--bind-to", "none", "-n", std::to_string(ranks)};
        return {build.launcher.string(), "-n", std::to_string(ranks)};
    }
    throw std::runtime_error("no launcher for " + mpi + " in PATH");
}

std::vector<std::string> local_environment() {
    std::vector<std::string> added{"OMPI_MCA_mpi_yield_when_idle=1", "MPIR_CVAR_POLLS_BEFORE_YIELD=1"};
    if (geteuid() == 0) added.insert(added.end(), {"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"});
    return added;
}

}  // namespace sluice::cli
