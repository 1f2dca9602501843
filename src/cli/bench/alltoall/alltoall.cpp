// SPDX-License-Identifier: BSD-3-Clause
// `sluice bench alltoall`: one launch for each MPI, number of ranks and case.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iostream>

#include "cli/bench/alltoall/table.hpp"
#include "cli/bench/bench.hpp"
#include "cli/bench/launch.hpp"
#include "cli/support/command.hpp"
#include "cli/support/installation.hpp"
#include "cli/support/launch.hpp"
#include "cli/support/local_ranks.hpp"
#include "command_line/command_line.hpp"

namespace sluice::cli {

namespace {

constexpr char const* k_alltoall_program = "sluice-bench-alltoall";
constexpr int k_alltoall_silent_seconds = 300;

struct AlltoallBenchOptions {
    std::vector<std::string> mpis;
    std::vector<int> ranks;
    std::vector<std::string> cases;
    std::vector<std::string> buffers;
    std::vector<std::uint64_t> bytes{8, 64, 512, 4096, 16384, 65536, 1048576, 16777216};
    std::string bed = "local";
    int pairs = 7;
    double minutes = 10;
    bool json = false;
};

struct AlltoallCell {
    std::string mpi;
    int ranks;
    std::string name;
};

/// MPICH's waiting ranks spin, so it is measured at 8 ranks only on request.
std::vector<AlltoallCell> alltoall_cells(AlltoallBenchOptions const& options) {
    std::vector<AlltoallCell> cells;
    for (std::string const& mpi : options.mpis.empty() ? mpis_with_program(k_alltoall_program, false) : options.mpis) {
        std::vector<int> ranks = options.ranks;
        if (ranks.empty()) ranks = mpi == "mpich" ? std::vector<int>{2, 4} : std::vector<int>{2, 4, 8};
        for (int const count : ranks)
            for (std::string const& name : options.cases)
                cells.push_back({mpi, count, name});
    }
    return cells;
}

int run_alltoall_cell(AlltoallCell const& cell, AlltoallBenchOptions const& options) {
    auto const program = program_for(cell.mpi, k_alltoall_program);
    if (!program)
        throw std::runtime_error(fmt::format("{} for {} is not next to this command", k_alltoall_program, cell.mpi));
    std::vector<std::string> command = local_launcher(cell.mpi, cell.ranks);
    command.insert(command.end(), {program->string(), "--case", cell.name, "--buffers",
                                   fmt::format("{}", fmt::join(options.buffers, ",")), "--bytes",
                                   fmt::format("{}", fmt::join(options.bytes, ",")), "--pairs",
                                   std::to_string(options.pairs), "--bed", options.bed});
    std::vector<Row> rows;
    Ended const ended = launch(command, launch_environment(), k_alltoall_silent_seconds, [&](std::string const& line) {
        if (!line.starts_with("{")) return;
        Row row = Row::parse(line, nullptr, false);
        if (row.is_discarded()) return;
        if (options.json) std::cout << row.dump() << std::endl;
        rows.push_back(std::move(row));
    });
    if (!options.json) std::cout << alltoall_table(rows) << std::endl;
    if (ended.code == 0) return 0;
    std::cerr << fmt::format("sluice: {} {} on {} ranks {}\n{}", cell.mpi, cell.name, cell.ranks,
                             ended.silent ? "hung and was stopped" : fmt::format("ended with code {}", ended.code),
                             ended.complaints);
    return 1;
}

void add_alltoall_options(command_line::CommandLine& line, AlltoallBenchOptions& options) {
    line.option("--ranks", options.ranks, "numbers of ranks (2,4,8; MPICH 2,4)").separated_by_commas();
    line.option("--case", options.cases, "alltoall, alltoallv (both)").separated_by_commas();
    line.option("--buffers", options.buffers, "warm, cold (both)").separated_by_commas();
    line.option("--bytes", options.bytes, "bytes of each pair, multiples of 8")
        .separated_by_commas()
        .positive()
        .shows_default();
    line.option("--mpi", options.mpis, "openmpi, mpich (those found)").separated_by_commas();
    line.option("--bed", options.bed, "local").one_of({"local"});
    line.option("--pairs", options.pairs, "rounds after the warm-up; in each, every way runs once")
        .between(1, 1000)
        .shows_default();
    line.option("--minutes", options.minutes, "begin no cell after this number of minutes; 0: no limit")
        .not_negative()
        .shows_default();
    line.flag("--json", options.json, "one JSON object on each line instead of tables");
}

/// Refuses words that are not known; without any, all are meant.
template <std::size_t N>
void check_words(std::vector<std::string>& given, std::string_view const (&known)[N], char const* what) {
    for (std::string const& word : given)
        if (std::find(std::begin(known), std::end(known), word) == std::end(known)) throw unknown(what, word, known);
    if (given.empty()) given.assign(std::begin(known), std::end(known));
}

}  // namespace

int bench_alltoall(std::vector<std::string> const& arguments) {
    static constexpr std::string_view k_cases[] = {"alltoall", "alltoallv"};
    static constexpr std::string_view k_buffers[] = {"warm", "cold"};
    AlltoallBenchOptions options;
    command_line::CommandLine line("sluice bench alltoall",
                                   "All-to-alls from one buffer into another: the MPI library's own, each algorithm of "
                                   "this library, and the choice of its rule, side by side");
    add_alltoall_options(line, options);
    if (!line.parse(arguments)) return 0;
    check_bench_choice(options.mpis, options.ranks);
    check_words(options.cases, k_cases, "case");
    check_words(options.buffers, k_buffers, "kind of buffers");

    auto const start = std::chrono::steady_clock::now();
    std::size_t left_out = 0;
    int worst = 0;
    std::vector<AlltoallCell> const cells = alltoall_cells(options);
    for (AlltoallCell const& cell : cells) {
        std::chrono::duration<double> const passed = std::chrono::steady_clock::now() - start;
        if (options.minutes > 0 && passed.count() / 60 > options.minutes)
            ++left_out;
        else
            worst = std::max(worst, run_alltoall_cell(cell, options));
    }
    if (left_out > 0)
        std::cerr << fmt::format("sluice: {} of {} cells were left out after {} minutes (--minutes)\n", left_out,
                                 cells.size(), options.minutes);
    return worst;
}

}  // namespace sluice::cli
