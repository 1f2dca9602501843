// SPDX-License-Identifier: BSD-3-Clause
#include "cli/bench/launch.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iostream>
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

std::string bench_program(std::string const& mpi, std::string const& name) {
    auto const program = program_for(mpi, name);
    if (!program) throw std::runtime_error(fmt::format("{} for {} is not next to this command", name, mpi));
    return program->string();
}

std::vector<std::string> cluster_launcher(std::string const& mpi, int ranks, double rate_mbit,
                                          std::optional<int> nodes) {
    auto const script = bed_script("cluster");
    if (!script) throw std::runtime_error("the script of bed cluster is not next to this command");
    std::vector<std::string> words{script->string(), "--mpi", mpi, "--rate", fmt::format("{:g}", rate_mbit)};
    if (nodes) words.insert(words.end(), {"--nodes", std::to_string(*nodes)});
    words.insert(words.end(), {"-n", std::to_string(ranks), "--"});
    return words;
}

int run_cells(std::size_t cells, double minutes, std::function<int(std::size_t cell)> const& run) {
    auto const start = std::chrono::steady_clock::now();
    int worst = 0;
    for (std::size_t cell = 0; cell < cells; ++cell) {
        std::chrono::duration<double> const passed = std::chrono::steady_clock::now() - start;
        if (minutes > 0 && passed.count() / 60 > minutes) {
            std::cerr << fmt::format("sluice: {} of {} cells were left out after {} minutes (--minutes)\n",
                                     cells - cell, cells, minutes);
            break;
        }
        worst = std::max(worst, run(cell));
    }
    return worst;
}

}  // namespace sluice::cli
