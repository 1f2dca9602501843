// SPDX-License-Identifier: BSD-3-Clause
// The probe of `sluice memory`: goes through the steps of the study (Goodell, Gropp, Zhao, Thakur: Scalable Memory Use
// in MPI, EuroMPI 2011) on the ranks of one machine and tells what each rank held after each. Rank 0 prints one JSON
// object for each phase, {"phase","anonymous","shared","files","heap"} with a list over ranks, in bytes.
#include <mpi.h>

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "command_line/command_line.hpp"
#include "mpi/library_name.hpp"
#include "probes/memory_phases.hpp"

namespace sluice::probes {

namespace {

using Row = nlohmann::ordered_json;

struct Options {
    std::string barrier;
    int ranks = 0;
    int communicators = 100;
    int windows = 8;
    std::size_t window_bytes = 65536;
    std::size_t ballast_mib = 0;
};

/// Returns one field of one snapshot from all ranks; empty except on rank 0.
std::vector<std::uint64_t> gathered(std::uint64_t mine, int ranks, int rank) {
    std::vector<std::uint64_t> all(rank == 0 ? static_cast<std::size_t>(ranks) : 0);
    MPI_Gather(&mine, 1, MPI_UINT64_T, all.data(), 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    return all;
}

void print(Row const& row) {
    std::puts(row.dump().c_str());
    std::fflush(stdout);
}

int run(Options const& options, int argc, char** argv) {
    NodeBarrier barrier(options.barrier, options.ranks);
    Snapshots snapshots(barrier);
    auto const buffers = std::make_unique<MessageBuffers>();
    read_process_memory();  // brings the pages of the stack and the libraries into memory before the first measurement
    barrier.wait();
    snapshots.take("before");
    MPI_Init(&argc, &argv);
    snapshots.take("init");
    int rank = 0;
    int ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks != options.ranks) throw std::runtime_error("the launcher made " + std::to_string(ranks) + " ranks");
    reduce_over_all();
    snapshots.take("reduced");
    talk_with_everybody(*buffers);
    snapshots.take("talked");
    std::vector<char> const ballast(options.ballast_mib << 20, 1);
    if (!ballast.empty()) snapshots.take("ballast");
    if (options.communicators > 0) try_communicators(options.communicators, snapshots);
    std::vector<Refusal> refusals;
    if (options.windows > 0) refusals = try_windows(options.windows, options.window_bytes, snapshots);

    std::string const version = mpi::library_name();
    if (rank == 0) print(Row{{"library", version}});
    for (Snapshots::Entry const& entry : snapshots) {
        Row const row{{"phase", entry.phase},
                      {"anonymous", gathered(entry.memory.anonymous, ranks, rank)},
                      {"shared", gathered(entry.memory.shared, ranks, rank)},
                      {"files", gathered(entry.memory.files, ranks, rank)},
                      {"heap", gathered(entry.memory.heap, ranks, rank)}};
        if (rank == 0) print(row);
    }
    for (Refusal const& refusal : refusals)
        if (rank == 0) print(Row{{"phase", refusal.phase}, {"refused", refusal.why}});
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) print(Row{{"complete", true}});
    // MPICH 4.0.2 over UCX's tcp hangs in MPI_Finalize in one run of twelve. All results are printed by now, so the
    // process need not wait.
    std::signal(SIGALRM, [](int) { _exit(0); });
    alarm(5);
    MPI_Finalize();
    return 0;
}

}  // namespace

}  // namespace sluice::probes

int main(int argc, char** argv) {
    sluice::probes::Options options;
    sluice::command_line::CommandLine line("sluice-probe-memory",
                                           "Tells what an MPI holds after each step; sluice memory starts it");
    line.option("--barrier", options.barrier, "a file of 4096 zero bytes that all ranks can map").required();
    line.option("--ranks", options.ranks, "how many ranks there are").required().positive();
    line.option("--communicators", options.communicators, "duplicates of MPI_COMM_WORLD").between(0, 1900);
    line.option("--windows", options.windows, "windows of each kind").between(0, 1000);
    line.option("--window-bytes", options.window_bytes, "bytes of a window on each rank");
    line.option("--ballast-mib", options.ballast_mib, "MiB that the probe takes itself after the traffic");
    if (auto const code = line.parse_main(argc, argv)) return *code;
    try {
        return sluice::probes::run(options, argc, argv);
    } catch (std::exception const& error) {
        std::fprintf(stderr, "sluice-probe-memory: %s\n", error.what());
        int running = 0;
        MPI_Initialized(&running);
        if (running != 0) MPI_Abort(MPI_COMM_WORLD, 1);
        return 1;
    }
}
