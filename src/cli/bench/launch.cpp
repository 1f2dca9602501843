// SPDX-License-Identifier: BSD-3-Clause
#include "cli/bench/launch.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>

#include "cli/support/command.hpp"
#include "cli/support/installation.hpp"

namespace sluice::cli {

std::vector<std::string> mpis_with_program(char const* program, bool simulated) {
    std::vector<std::string> found;
    for (MpiBuild const& build : mpi_builds())
        if ((build.name == "simgrid") == simulated && program_for(build.name, program)) found.push_back(build.name);
    if (found.empty())
        throw std::runtime_error(
            fmt::format("{} is not next to this command for any MPI; was it built? (make build)", program));
    return found;
}

std::vector<std::string> launch_environment() {
    if (geteuid() == 0) return {"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"};
    return {};
}

void check_bench_choice(std::vector<std::string> const& mpis, std::vector<int> const& ranks) {
    static constexpr std::string_view known[] = {"openmpi", "mpich", "mpi", "simgrid"};
    for (std::string const& name : mpis)
        if (std::find(std::begin(known), std::end(known), name) == std::end(known)) throw unknown("MPI", name, known);
    for (int const count : ranks)
        if (count < 1) throw UsageError("--ranks wants positive numbers, not " + std::to_string(count));
}

}  // namespace sluice::cli
