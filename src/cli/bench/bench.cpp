// SPDX-License-Identifier: BSD-3-Clause
// `sluice bench NAME …`: launches a benchmark program on a bed, cell by cell, and prints its table.
#include <array>
#include <cstdlib>
#include <iostream>

#include "cli/bench/bench.hpp"
#include "cli/support/command.hpp"
#include "command_line/manual.hpp"

namespace sluice::cli {

namespace {

struct Benchmark {
    std::string_view name;
    std::string_view help;
    int (*run)(std::vector<std::string> const& arguments);
};

constexpr std::array k_benchmarks{
    Benchmark{"redistribute", "moves blocks in place: every strategy and the methods that people use today",
              bench_redistribute},
    Benchmark{"inplace", "all-to-all exchanges in place, compared with those of the MPI library", bench_inplace},
    Benchmark{"ft",
              "a solver by 3-D FFTs: transposes by MPI_Alltoall, in place, streamed and by many tasks, in small nodes",
              bench_ft},
    Benchmark{"alltoall", "all-to-alls from one buffer into another: every algorithm, and that of the MPI library",
              bench_alltoall},
    Benchmark{"fluctuation", "ghost faces at once, or fetched under tokens: time and memory, also in a small node",
              bench_fluctuation},
    Benchmark{"madre", "the five experiments of MADRE's Figure 3 on simulated machines", bench_madre},
    Benchmark{"overlap", "how much of the waiting for a message is hidden behind work, by `sluice run` and by hand",
              bench_overlap},
    Benchmark{"registration",
              "registered memory over time: schemes of MPI libraries, a helper that predicts, and the best",
              bench_registration},
    Benchmark{"flood", "small messages faster than they are received: the receiver's memory and the time", bench_flood},
    Benchmark{"overhead", "what `sluice run` costs a program that it only watches", bench_overhead},
};

/// "one, another or a third".
std::string all_names() {
    std::string names;
    for (Benchmark const& bench : k_benchmarks)
        names += (names.empty() ? "" : &bench == &k_benchmarks.back() ? " or " : ", ") + std::string(bench.name);
    return names;
}

void print_help() {
    std::cout
        << "Runs a benchmark and prints its table, or with --json one JSON object on each line.\n\nUsage: sluice bench "
           "NAME [OPTIONS]\n\n";
    for (Benchmark const& bench : k_benchmarks)
        std::cout << "  " << bench.name << std::string(15 - bench.name.size(), ' ') << bench.help << "\n";
    std::cout << "\nsluice bench NAME --help tells more\n";
}

void print_manual_page() {
    command_line::CommandList list{
        "sluice bench",
        "Runs a benchmark and prints its table, or with --json one JSON object on each line.",
        "NAME [OPTIONS]",
        "Benchmarks",
        {},
        {}};
    for (Benchmark const& bench : k_benchmarks)
        list.commands.push_back({bench.name, bench.help});
    std::cout << command_line::manual_of(list);
}

}  // namespace

int run_bench(std::vector<std::string> const& arguments) {
    if (arguments.empty()) throw UsageError("which benchmark? " + all_names() + ": sluice bench NAME");
    if (arguments.front() == "--help" || arguments.front() == "-h") {
        print_help();
        return 0;
    }
    if (arguments.front() == command_line::k_manual_option) {
        print_manual_page();
        return 0;
    }
    std::vector<std::string_view> known;
    for (Benchmark const& bench : k_benchmarks) {
        if (bench.name == arguments.front()) return bench.run({arguments.begin() + 1, arguments.end()});
        known.push_back(bench.name);
    }
    throw unknown("benchmark", arguments.front(), known);
}

}  // namespace sluice::cli
