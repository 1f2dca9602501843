// SPDX-License-Identifier: BSD-3-Clause
// `sluice memory`: the memory that an MPI takes for itself, measured on this machine and predicted for a larger one.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>

#include "cli/memory/probe_launch.hpp"
#include "cli/memory/rows.hpp"
#include "cli/support/command.hpp"
#include "cli/support/installation.hpp"
#include "command_line/command_line.hpp"

namespace sluice::cli {

namespace {

struct MemoryOptions {
    std::vector<std::string> mpis;
    std::vector<int> ranks;
    int runs = 3;
    ProbeObjects objects;
    int ballast_mib = 0;
    int predicted_ranks = 0;
    int per_node = 0;
    int limit_seconds = 120;
    std::string peers = "node";
    bool json = false;
};

std::vector<std::string> mpis_with_probe() {
    std::vector<std::string> found;
    for (MpiBuild const& build : mpi_builds())
        if (has_memory_probe(build.name) && !build.launcher.empty()) found.push_back(build.name);
    return found;
}

/// MPICH waits by spinning, so more ranks than cores make it a hundred times slower.
std::vector<int> usual_ranks(std::string const& mpi) {
    if (mpi == "mpich") return {2, 3, 4, 6};
    return {2, 4, 6, 8, 12, 16};
}

MemoryReport measure(std::string const& mpi, MemoryOptions const& options) {
    MemoryReport report;
    report.mpi = mpi;
    report.runs = options.runs;
    report.objects = options.objects;
    report.predicted_ranks = options.predicted_ranks;
    report.per_node = options.per_node;
    report.peers = options.peers == "node" ? Peers::node : Peers::network;
    std::vector<ProbeRun> runs;
    std::vector<int> const counts = options.ranks.empty() ? usual_ranks(mpi) : options.ranks;
    // Each round makes one run of every number of ranks, so that changes of the machine meanwhile are not taken for
    // growth with the ranks.
    for (int round = 0; round < options.runs; ++round)
        for (int const ranks : counts) {
            ProbeRequest const request{
                mpi, ranks, options.objects, options.ballast_mib, report.peers, options.limit_seconds};
            runs.push_back(launch_memory_probe(request));
            report.library = runs.back().library;
            report.refused.insert(runs.back().refused.begin(), runs.back().refused.end());
        }
    report.studies = study(runs, options.objects);
    return report;
}

void add_options(command_line::CommandLine& line, MemoryOptions& options) {
    line.option("--mpi", options.mpis, "openmpi, mpich (those found)").separated_by_commas();
    line.option("--ranks", options.ranks, "numbers of ranks (2,4,6,8,12,16; with MPICH, which spins, 2,3,4,6)")
        .separated_by_commas()
        .between(1, 1024);
    line.option("--runs", options.runs, "launches at each number of ranks; medians are shown")
        .between(1, 100)
        .shows_default();
    line.option("--communicators", options.objects.communicators, "duplicates of MPI_COMM_WORLD; 0: none")
        .between(0, 1900)
        .shows_default();
    line.option("--windows", options.objects.windows, "windows of each kind; 0: none").between(0, 1000).shows_default();
    line.option("--window-bytes", options.objects.window_bytes, "bytes of a window on each rank, not counted")
        .between(1, 1 << 30)
        .shows_default();
    line.option("--predict", options.predicted_ranks, "ranks of a job to predict").positive();
    line.option("--per-node", options.per_node, "its ranks on a node (all, at most 64)").positive();
    line.option("--ballast-mib", options.ballast_mib,
                "MiB that each rank allocates itself: the measurement must find them")
        .between(0, 65536);
    line.option("--peers", options.peers, "how ranks reach each other: node (shared memory) or network (tcp)")
        .one_of({"node", "network"})
        .shows_default();
    line.option("--limit", options.limit_seconds, "seconds that one launch may take").positive().shows_default();
    line.flag("--json", options.json, "one JSON object on each line instead of tables; bytes");
}

}  // namespace

int run_memory(std::vector<std::string> const& arguments) {
    MemoryOptions options;
    command_line::CommandLine line(
        "sluice memory",
        "Measures what an MPI takes for itself: a rank, a communicator, a window; and predicts it for larger jobs");
    add_options(line, options);
    if (!line.parse(arguments)) return 0;
    std::vector<std::string> const found = mpis_with_probe();
    if (found.empty())
        throw std::runtime_error(
            "no MPI here has a launcher in PATH and sluice-probe-memory next to this command (make build)");
    std::vector<std::string_view> const known(found.begin(), found.end());
    for (std::string const& mpi : options.mpis)
        if (std::find(known.begin(), known.end(), mpi) == known.end()) throw unknown("measurable MPI", mpi, known);
    if (options.per_node > 0 && options.predicted_ranks == 0) throw UsageError("--per-node goes with --predict RANKS");
    if (options.per_node > options.predicted_ranks)
        throw UsageError(
            fmt::format("--per-node {} is more than --predict {}", options.per_node, options.predicted_ranks));
    if (options.per_node == 0) options.per_node = std::min(options.predicted_ranks, 64);
    std::sort(options.ranks.begin(), options.ranks.end());
    options.ranks.erase(std::unique(options.ranks.begin(), options.ranks.end()), options.ranks.end());
    for (std::string const& mpi : options.mpis.empty() ? found : options.mpis) {
        MemoryReport const report = measure(mpi, options);
        if (options.json) {
            for (auto const& row : memory_rows(report))
                std::cout << row.dump() << std::endl;
        } else {
            std::cout << memory_tables(report) << std::endl;
        }
    }
    return 0;
}

}  // namespace sluice::cli
