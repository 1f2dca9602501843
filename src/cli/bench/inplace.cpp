// SPDX-License-Identifier: BSD-3-Clause
// `sluice bench inplace`: one launch for each MPI, number of ranks and case.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iostream>

#include "cli/bench/bench.hpp"
#include "cli/bench/launch.hpp"
#include "cli/bench/table.hpp"
#include "cli/support/command.hpp"
#include "cli/support/installation.hpp"
#include "cli/support/launch.hpp"
#include "cli/support/local_ranks.hpp"
#include "command_line/command_line.hpp"

namespace sluice::cli {

namespace {

constexpr char const* k_inplace_program = "sluice-bench-inplace";
constexpr int k_silent_seconds = 300;

struct InplaceOptions {
    std::vector<std::string> mpis;
    std::vector<int> ranks;
    std::vector<std::string> cases;
    std::vector<std::uint64_t> bytes{1024, 16000, 65536, 1048576, 10485760};
    std::string bed = "local";
    int pairs = 7;
    double minutes = 10;
    bool json = false;
};

struct Cell {
    std::string mpi;
    int ranks;
    std::string exchange;
};

/// MPICH's waiting ranks spin, so it is measured at 8 ranks only on request.
std::vector<Cell> plan(InplaceOptions const& options) {
    std::vector<Cell> cells;
    for (std::string const& mpi : options.mpis.empty() ? mpis_with_program(k_inplace_program, false) : options.mpis) {
        std::vector<int> ranks = options.ranks;
        if (ranks.empty()) ranks = mpi == "mpich" ? std::vector<int>{2, 4} : std::vector<int>{2, 4, 8};
        for (int const count : ranks)
            for (std::string const& exchange : options.cases)
                cells.push_back({mpi, count, exchange});
    }
    return cells;
}

int run_cell(Cell const& cell, InplaceOptions const& options) {
    auto const program = program_for(cell.mpi, k_inplace_program);
    if (!program)
        throw std::runtime_error(fmt::format("{} for {} is not next to this command", k_inplace_program, cell.mpi));
    std::vector<std::string> command = local_launcher(cell.mpi, cell.ranks);
    command.insert(command.end(), {program->string(), "--case", cell.exchange, "--bytes",
                                   fmt::format("{}", fmt::join(options.bytes, ",")), "--pairs",
                                   std::to_string(options.pairs), "--bed", options.bed});
    std::vector<Row> rows;
    Ended const ended = launch(command, launch_environment(), k_silent_seconds, [&](std::string const& line) {
        if (!line.starts_with("{")) return;
        Row row = Row::parse(line, nullptr, false);
        if (row.is_discarded()) return;
        if (options.json) std::cout << row.dump() << std::endl;
        rows.push_back(std::move(row));
    });
    if (!options.json) std::cout << inplace_table(rows) << std::endl;
    if (ended.code == 0) return 0;
    std::cerr << fmt::format("sluice: {} {} on {} ranks {}\n{}", cell.mpi, cell.exchange, cell.ranks,
                             ended.silent ? "hung and was stopped" : fmt::format("ended with code {}", ended.code),
                             ended.complaints);
    return 1;
}

}  // namespace

int bench_inplace(std::vector<std::string> const& arguments) {
    static constexpr std::string_view exchanges[] = {"alltoall", "alltoallv", "alltoallw", "alltoallw_rows"};
    InplaceOptions options;
    command_line::CommandLine line(
        "sluice bench inplace", "All-to-all exchanges in place: this library and the MPI library's own, side by side");
    line.option("--ranks", options.ranks, "numbers of ranks (2,4,8; MPICH 2,4)").separated_by_commas();
    line.option("--case", options.cases, "alltoall, alltoallv, alltoallw, alltoallw_rows (all)").separated_by_commas();
    line.option("--bytes", options.bytes, "bytes of each pair, multiples of 8")
        .separated_by_commas()
        .positive()
        .shows_default();
    line.option("--mpi", options.mpis, "openmpi, mpich (those found)").separated_by_commas();
    line.option("--bed", options.bed, "local").one_of({"local"});
    line.option("--pairs", options.pairs, "rounds after the warm-up; in each, both run once")
        .between(1, 1000)
        .shows_default();
    line.option("--minutes", options.minutes, "begin no cell after this number of minutes; 0: no limit")
        .not_negative()
        .shows_default();
    line.flag("--json", options.json, "one JSON object on each line instead of tables");
    if (!line.parse(arguments)) return 0;
    check_bench_choice(options.mpis, options.ranks);
    for (std::string const& name : options.cases)
        if (std::find(std::begin(exchanges), std::end(exchanges), name) == std::end(exchanges))
            throw unknown("case", name, exchanges);
    if (options.cases.empty()) options.cases.assign(std::begin(exchanges), std::end(exchanges));

    auto const start = std::chrono::steady_clock::now();
    std::size_t left_out = 0;
    int worst = 0;
    std::vector<Cell> const cells = plan(options);
    for (Cell const& cell : cells) {
        std::chrono::duration<double> const passed = std::chrono::steady_clock::now() - start;
        if (options.minutes > 0 && passed.count() / 60 > options.minutes)
            ++left_out;
        else
            worst = std::max(worst, run_cell(cell, options));
    }
    if (left_out > 0)
        std::cerr << fmt::format("sluice: {} of {} cells were left out after {} minutes (--minutes)\n", left_out,
                                 cells.size(), options.minutes);
    return worst;
}

}  // namespace sluice::cli
