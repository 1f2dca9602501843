// SPDX-License-Identifier: BSD-3-Clause
// `sluice bench overhead`: the cost of watching. It alternates blocks of the same exchanges within one launch, through
// the wrappers and around them, and whole launches with and without `sluice run`.
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <iostream>

#include "cli/bench/bench.hpp"
#include "cli/bench/launch.hpp"
#include "cli/bench/overhead/memory.hpp"
#include "cli/bench/overhead/rows.hpp"
#include "cli/support/command.hpp"
#include "cli/support/installation.hpp"
#include "cli/support/launch.hpp"
#include "cli/support/local_ranks.hpp"
#include "command_line/command_line.hpp"

namespace sluice::cli {

namespace {

constexpr int k_silence_seconds = 120;

struct Wish {
    std::vector<std::string> cases;
    int launches = 3;
    int blocks = 100;
    double block_ms = 5;
    int pairs = 7;
    int rounds = 2000;
    int memory_launches = 5;
    std::vector<int> memory_ranks{2, 4, 8};
};

/// Starts the program of one MPI.
class WatchedLaunches {
  public:
    WatchedLaunches(std::string const& mpi, int ranks)
        : plain_(local_launcher(mpi, ranks)), environment_(local_environment()) {
        auto const program = program_for(mpi, "sluice-bench-overhead");
        if (!program) throw std::runtime_error("no benchmark program for " + mpi + " beside this command");
        watched_ = plain_;
        watched_.insert(watched_.end(), {std::filesystem::canonical("/proc/self/exe").string(), "run"});
        for (auto* command : {&plain_, &watched_})
            command->push_back(program->string());
        // Both MPIs spin while they wait, as users run them with a core for each rank.
        if (ranks <= sysconf(_SC_NPROCESSORS_ONLN)) {
            environment_ = launch_environment();
            environment_.emplace_back("OMPI_MCA_mpi_yield_when_idle=0");
        }
    }

    /// Runs one launch and adds its measurements. Throws if the program fails, or is not watched although it should be.
    void run(bool watched, std::vector<std::string> const& arguments, OverheadLines& into) const {
        std::vector<std::string> command = watched ? watched_ : plain_;
        command.insert(command.end(), arguments.begin(), arguments.end());
        Ended const ended =
            launch(command, environment_, k_silence_seconds, [&into](std::string const& line) { into.take(line); });
        if (ended.code != 0)
            throw std::runtime_error(fmt::format("the program ended with {}: {}", ended.code, ended.complaints));
        if (into.between() != watched)
            throw std::runtime_error(watched ? "`sluice run` did not come between the program and its MPI: " +
                                                   ended.complaints
                                             : "something is preloaded between the plain program and its MPI");
    }

  private:
    std::vector<std::string> plain_;
    std::vector<std::string> watched_;
    std::vector<std::string> environment_;
};

struct Measured {
    OverheadLines watched;
    OverheadLines plain;
};

/// The launches alternate, and so does the launch that comes first in each pair.
Measured measure(WatchedLaunches const& launches, int pairs, std::vector<std::string> arguments,
                 std::vector<std::string> const& cases) {
    arguments.insert(arguments.end(), cases.begin(), cases.end());
    Measured measured;
    for (int pair = 0; pair < pairs; ++pair)
        for (bool const watched : {pair % 2 == 1, pair % 2 == 0})
            launches.run(watched, arguments, watched ? measured.watched : measured.plain);
    return measured;
}

void print(std::vector<OverheadRow> const& rows, std::string const& table, bool json) {
    for (OverheadRow const& row : rows)
        if (json) std::cout << row.dump() << "\n";
    if (!json && !rows.empty()) std::cout << table;
    std::cout << std::flush;
}

void measure_mpi(OverheadPlace const& place, Wish const& wish, bool json) {
    WatchedLaunches const launches(place.mpi, place.ranks);
    Measured const blocks = measure(
        launches, wish.launches, {"paired", std::to_string(wish.blocks), fmt::format("{}", wish.block_ms)}, wish.cases);
    auto const of_blocks = block_rows(place, blocks.watched, blocks.plain);
    print(of_blocks, block_table(place, of_blocks), json);
    Measured const whole = measure(launches, wish.pairs, {"launch", std::to_string(wish.rounds)}, wish.cases);
    auto const of_launches = launch_rows(place, whole.watched, whole.plain);
    print(of_launches, launch_table(place, of_launches), json);
    if (wish.memory_launches == 0) return;
    std::vector<OverheadRow> const of_memory = measure_memory(place.mpi, wish.memory_ranks, wish.memory_launches);
    print(of_memory, memory_table(place.mpi, of_memory), json);
}

}  // namespace

int bench_overhead(std::vector<std::string> const& arguments) {
    std::vector<std::string> mpis{"openmpi", "mpich"};
    int ranks = 2;
    Wish wish;
    bool json = false;
    command_line::CommandLine line("sluice bench overhead",
                                   "What watching costs: exchanges through the wrappers and past them in one launch, "
                                   "and launches with and without `sluice run`");
    line.option("--mpi", mpis, "openmpi, mpich").separated_by_commas();
    line.option("--ranks", ranks, "ranks; more than cores measure the machine's waiting")
        .between(2, 64)
        .shows_default();
    line.option("--case", wish.cases, "pingpong, halo, stencil, allreduce; by default all")
        .separated_by_commas()
        .one_of({"pingpong", "halo", "stencil", "allreduce"});
    line.option("--launches", wish.launches, "launches of each kind that compare blocks")
        .between(0, 100)
        .shows_default();
    line.option("--blocks", wish.blocks, "pairs of blocks of each exchange in a launch")
        .between(1, 100000)
        .shows_default();
    line.option("--block-ms", wish.block_ms, "milliseconds that a block lasts").between(0.1, 10000.0).shows_default();
    line.option("--pairs", wish.pairs, "whole launches of each kind, in turns").between(0, 100).shows_default();
    line.option("--rounds", wish.rounds,
                "exchanges of 16 KiB in a batch of a whole launch; of other sizes more or fewer")
        .between(40, 1000000)
        .shows_default();
    line.option("--memory-ranks", wish.memory_ranks, "numbers of ranks at which peaks of memory are compared")
        .separated_by_commas();
    line.option("--memory-launches", wish.memory_launches, "launches of each kind that compare peaks of memory")
        .between(0, 100)
        .shows_default();
    line.flag("--json", json, "one JSON object on each line instead of tables");
    if (!line.parse(arguments)) return 0;
    for (std::string const& mpi : mpis)
        measure_mpi({mpi, ranks}, wish, json);
    return 0;
}

}  // namespace sluice::cli
