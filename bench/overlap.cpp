// SPDX-License-Identifier: BSD-3-Clause
// Measures how much of the waiting for a message is hidden behind work: rank 1 sends, rank 0 receives and computes. The
// program links nothing of the library: `sluice bench overlap` launches it with and without `sluice run`. Prints lines:
//   between yes|no                       whether something stands between this program and libmpi
//   round CASE BYTES METHOD SECONDS      one round; the n-th rounds of all methods of a cell were measured in turn
//   latency PROGRAM STRAIGHT             seconds of an 8-byte message in two blocks, as a program calls MPI and
//   straight idle RANK SECONDS COUNT NAME         how often another thread of that rank woke up while the rank slept
//   delayed RANK SECONDS OF              how long that rank waited for a processor during the rounds
// Exit code 0; 2 for wrong options; 1 for a byte that was not sent, or another error.
#include <mpi.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "command_line/command_line.hpp"
#include "overlap/calls.hpp"
#include "overlap/cell.hpp"
#include "overlap/idle.hpp"
#include "overlap/latency.hpp"
#include "support/libmpi.hpp"

using namespace sluice::bench;

namespace {

constexpr OverlapMethod k_methods[] = {OverlapMethod::blocking, OverlapMethod::irecv,   OverlapMethod::by_hand,
                                       OverlapMethod::strips,   OverlapMethod::program, OverlapMethod::started,
                                       OverlapMethod::compute,  OverlapMethod::transfer};
constexpr OverlapWork k_works[] = {OverlapWork::independent, OverlapWork::light, OverlapWork::heavy};
constexpr int k_latency_site = k_call_sites - 1;

struct Options {
    std::vector<std::string> cases{"independent", "light", "heavy"};
    std::vector<std::string> methods{"blocking", "irecv",   "by_hand", "strips",
                                     "program",  "started", "compute", "transfer"};
    std::vector<std::uint64_t> bytes{65536, 262144, 1048576, 4194304, 16777216};
    int warm_up = 6;
    int pairs = 7;
    int latency_pairs = 0;
    double idle_seconds = 0;
};

void add_options(sluice::command_line::CommandLine& line, Options& options) {
    line.option("--case", options.cases, "independent, light, heavy")
        .separated_by_commas()
        .one_of({"independent", "light", "heavy"});
    line.option("--method", options.methods, "blocking, irecv, by_hand, strips, program, started, compute, transfer")
        .separated_by_commas()
        .one_of({"blocking", "irecv", "by_hand", "strips", "program", "started", "compute", "transfer"});
    line.option("--bytes", options.bytes, "of a message").separated_by_commas().positive();
    line.option("--warm-up", options.warm_up, "rounds of the program's own receives that are not measured")
        .between(1, 1000);
    line.option("--pairs", options.pairs, "rounds in which each method runs once; 0: only latency and wake-ups")
        .between(0, 1000);
    line.option("--latency", options.latency_pairs, "pairs of blocks of 8-byte messages").between(0, 100000);
    line.option("--idle", options.idle_seconds, "seconds in which wake-ups are counted").not_negative();
}

/// Work that needs the data from its start on leaves nothing to test by hand meanwhile; work that does not need them
/// has no use for strips.
std::vector<OverlapMethod> methods_of(OverlapWork work, Options const& options) {
    OverlapMethod const useless = work == OverlapWork::independent ? OverlapMethod::strips : OverlapMethod::by_hand;
    std::vector<OverlapMethod> chosen;
    for (OverlapMethod const method : k_methods)
        for (std::string const& name : options.methods)
            if (method != useless && name == name_of(method)) chosen.push_back(method);
    return chosen;
}

void measure_cells(Options const& options, OverlapCalls const& program, OverlapCalls const& straight) {
    if (options.pairs == 0) return;
    int site = 0;
    for (OverlapWork const work : k_works)
        for (std::string const& name : options.cases)
            for (std::uint64_t const bytes : options.bytes) {
                if (name != name_of(work)) continue;
                OverlapPlan plan{work, bytes, site++, options.warm_up, options.pairs, methods_of(work, options)};
                OverlapCell(plan, program, straight).measure([&](OverlapMethod method, double seconds) {
                    std::printf("round %s %llu %s %.9f\n", name.c_str(), static_cast<unsigned long long>(bytes),
                                name_of(method).c_str(), seconds);
                    std::fflush(stdout);
                });
            }
}

void print_latency(std::vector<LatencyPair> const& pairs) {
    for (LatencyPair const& pair : pairs)
        std::printf("latency %.12f %.12f\n", pair.program, pair.straight);
    std::fflush(stdout);
}

/// Each rank prints its own lines. Threads get a moment to notice that nothing is left to do.
void count_wake_ups(int rank, double seconds) {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    for (ThreadWakeUps const& thread : wake_ups_while_idle(seconds))
        std::printf("idle %d %.3f %llu %s\n", rank, seconds, static_cast<unsigned long long>(thread.wake_ups),
                    thread.name.c_str());
    std::fflush(stdout);
}

void run(Options const& options) {
    int rank = 0;
    int ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks != 2) throw std::runtime_error("2 ranks are needed, one that sends and one that receives");
    if (options.cases.size() * options.bytes.size() >= k_call_sites)
        throw std::runtime_error("a launch has call sites for less than " + std::to_string(k_call_sites) + " cells");
    for (std::uint64_t const bytes : options.bytes)
        if (bytes > 1 << 30) throw std::runtime_error("a message has at most 1 GiB");
    OverlapCalls const program = OverlapCalls::of_the_program();
    OverlapCalls const straight = OverlapCalls::straight();
    if (rank == 0) std::printf("between %s\n", something_stands_between() ? "yes" : "no");
    double const delayed = seconds_without_processor();
    double const begin = MPI_Wtime();
    measure_cells(options, program, straight);
    if (options.pairs > 0)
        std::printf("delayed %d %.6f %.6f\n", rank, seconds_without_processor() - delayed, MPI_Wtime() - begin);
    if (options.latency_pairs > 0) {
        auto const pairs = measure_latency(program, straight, k_latency_site, options.latency_pairs);
        if (rank == 0) print_latency(pairs);
    }
    if (options.idle_seconds > 0) count_wake_ups(rank, options.idle_seconds);
    MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    sluice::command_line::CommandLine line("sluice-bench-overlap",
                                           "How much of the waiting for a message is hidden behind work");
    add_options(line, options);
    if (auto const code = line.parse_main(argc, argv)) return *code;
    MPI_Init(&argc, &argv);
    try {
        run(options);
    } catch (std::exception const& error) {
        std::fprintf(stderr, "sluice-bench-overlap: %s\n", error.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
    return 0;
}
