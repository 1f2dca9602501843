// SPDX-License-Identifier: BSD-3-Clause
#include "cli/bench/local_cells.hpp"

#include <fmt/format.h>

#include <iostream>
#include <utility>

#include "cli/bench/launch.hpp"
#include "cli/support/command.hpp"
#include "cli/support/installation.hpp"
#include "cli/support/launch.hpp"
#include "cli/support/local_ranks.hpp"

namespace sluice::cli {

namespace {

constexpr int k_silent_local_seconds = 300;

struct LocalCell {
    std::string mpi;
    int ranks;
    std::string name;
};

std::vector<LocalCell> list_of(LocalCells const& cells) {
    std::vector<LocalCell> list;
    for (std::string const& mpi : cells.mpis.empty() ? mpis_with_program(cells.program.c_str(), false) : cells.mpis) {
        std::vector<int> ranks = cells.ranks;
        if (ranks.empty()) ranks = mpi == "mpich" ? std::vector<int>{2, 4} : std::vector<int>{2, 4, 8};
        for (int const count : ranks)
            for (std::string const& name : cells.cases)
                list.push_back({mpi, count, name});
    }
    return list;
}

int run_local_cell(LocalCell const& cell, LocalCells const& cells) {
    std::vector<std::string> command = local_launcher(cell.mpi, cell.ranks);
    command.insert(command.end(), {bench_program(cell.mpi, cells.program), "--case", cell.name, "--bytes",
                                   fmt::format("{}", fmt::join(cells.bytes, ",")), "--pairs",
                                   std::to_string(cells.pairs), "--bed", cells.bed});
    command.insert(command.end(), cells.more.begin(), cells.more.end());
    std::vector<Row> rows;
    Ended const ended = launch(command, launch_environment(), k_silent_local_seconds, [&](std::string const& line) {
        if (!line.starts_with("{")) return;
        Row row = Row::parse(line, nullptr, false);
        if (row.is_discarded()) return;
        if (cells.json) std::cout << row.dump() << std::endl;
        rows.push_back(std::move(row));
    });
    if (!cells.json) std::cout << cells.table(rows) << std::endl;
    if (ended.code == 0) return 0;
    std::cerr << fmt::format("sluice: {} {} on {} ranks {}\n{}", cell.mpi, cell.name, cell.ranks,
                             ended.silent ? "hung and was stopped" : fmt::format("ended with code {}", ended.code),
                             ended.complaints);
    return 1;
}

}  // namespace

void add_local_options(command_line::CommandLine& line, LocalCells& cells) {
    line.option("--bytes", cells.bytes, "bytes of each pair, multiples of 8")
        .separated_by_commas()
        .positive()
        .shows_default();
    line.option("--ranks", cells.ranks, "numbers of ranks (2,4,8; MPICH 2,4)").separated_by_commas();
    line.option("--mpi", cells.mpis, "openmpi, mpich (those found)").separated_by_commas();
    line.option("--bed", cells.bed, "local").one_of({"local"});
    line.option("--pairs", cells.pairs, "rounds after the warm-up; in each, every way runs once")
        .between(1, 1000)
        .shows_default();
    line.option("--minutes", cells.minutes, "begin no cell after this number of minutes; 0: no limit")
        .not_negative()
        .shows_default();
    line.flag("--json", cells.json, "one JSON object on each line instead of tables");
}

int run_local_cells(LocalCells const& cells) {
    check_bench_choice(cells.mpis, cells.ranks);
    std::vector<LocalCell> const list = list_of(cells);
    return run_cells(list.size(), cells.minutes, [&](std::size_t at) { return run_local_cell(list[at], cells); });
}

}  // namespace sluice::cli
