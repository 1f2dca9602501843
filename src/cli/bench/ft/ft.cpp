// SPDX-License-Identifier: BSD-3-Clause
// `sluice bench ft`: the problem FT of the NAS Parallel Benchmarks, launches of each form in turns under each limit of
// memory, on one node or on several that are joined by wires.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <optional>
#include <utility>

#include "cli/bench/bench.hpp"
#include "cli/bench/ft/plan.hpp"
#include "cli/bench/ft/ratios.hpp"
#include "cli/bench/ft/table.hpp"
#include "cli/bench/launch.hpp"
#include "cli/bench/limited_bed.hpp"
#include "cli/support/command.hpp"
#include "cli/support/installation.hpp"
#include "cli/support/launch.hpp"
#include "cli/support/local_ranks.hpp"
#include "command_line/command_line.hpp"

namespace sluice::cli {

namespace {

constexpr char const* k_ft_program = "sluice-bench-ft";

struct FtOptions {
    FtChoice choice;
    std::vector<std::string> mpis;
    std::string problem = "A";
    double rate_mbit = 1000;
    int swap_mib = 1024;
    int seconds = 60;
    int pairs = 1;
    double minutes = 0;
    bool json = false;
};

std::string ft_bed(FtCell const& cell) {
    return cell.node_mib > 0 ? cell.nodes > 1 ? "limited_cluster" : "limited" : cell.nodes > 1 ? "cluster" : "local";
}

/// A run that has ended before it could print its row.
Row row_of_the_dead(FtCell const& cell, FtOptions const& options, std::string const& outcome) {
    Row row{
        {"bench", "ft"}, {"case", options.problem}, {"ranks", cell.ranks}, {"mpi", cell.mpi}, {"bed", ft_bed(cell)}};
    row["method"] = cell.form;
    if (cell.tasks > 0) row["tasks"] = cell.tasks;
    if (cell.tokens > 0) row["tokens"] = cell.tokens;
    row["outcome"] = outcome;
    return row;
}

std::vector<std::string> ft_launcher(FtCell const& cell, FtOptions const& options) {
    if (cell.nodes == 1) return local_launcher(cell.mpi, cell.ranks);
    return cluster_launcher(cell.mpi, cell.ranks, options.rate_mbit, cell.nodes);
}

std::vector<std::string> ft_command(FtCell const& cell, FtOptions const& options) {
    std::vector<std::string> command = ft_launcher(cell, options);
    bool const under_run = cell.form == "plain_run";
    if (under_run) {
        command.insert(command.end(), {std::filesystem::canonical("/proc/self/exe").string(), "run", "--quiet"});
        if (cell.node_mib > 0)
            command.insert(command.end(), {"--memory", fmt::format("{}MiB", cell.node_mib * cell.nodes / cell.ranks)});
    }
    command.insert(command.end(), {bench_program(cell.mpi, k_ft_program), "--form", under_run ? "plain" : cell.form,
                                   "--case", options.problem, "--bed", ft_bed(cell)});
    if (cell.tasks > 0) command.insert(command.end(), {"--tasks", std::to_string(cell.tasks)});
    if (cell.tokens > 0) command.insert(command.end(), {"--tokens", std::to_string(cell.tokens)});
    return command;
}

/// Returns the row, or null after a failure that is no outcome.
Row run_ft(FtCell const& cell, FtOptions const& options) {
    std::optional<LimitedRun> bed;
    std::vector<std::string> command;
    if (cell.node_mib > 0) {
        LimitedRun::Limits limits;
        limits.node_mib = cell.node_mib;
        limits.nodes = cell.nodes;
        limits.swap_mib = options.swap_mib;
        limits.seconds = options.seconds;
        limits.processes = cell.ranks;
        command = bed.emplace(limits).prefix();
    }
    for (std::string& word : ft_command(cell, options))
        command.push_back(std::move(word));
    Row row;
    Ended const ended = launch(command, launch_environment(), options.seconds + 60, [&](std::string const& line) {
        if (line.starts_with("{")) row = Row::parse(line, nullptr, false);
    });
    nlohmann::json const report = bed ? bed->report() : nlohmann::json();
    std::string const outcome = report.is_null() ? "ok" : report.at("outcome").get<std::string>();
    if ((report.is_null() && ended.code != 0) || outcome == "failed" || (outcome == "ok" && !row.is_object())) {
        std::cerr << fmt::format("sluice: {} {} on {} ranks ended with code {}\n{}", cell.mpi,
                                 name_of_ft_form(cell, false), cell.ranks, ended.code, ended.complaints);
        return {};
    }
    if (outcome != "ok") row = row_of_the_dead(cell, options, outcome);
    row["method"] = cell.form;
    row["nodes"] = cell.nodes;
    if (cell.nodes > 1) row["rate_mbit"] = options.rate_mbit;
    if (!report.is_null()) {
        row["node_bytes"] = static_cast<std::uint64_t>(cell.node_mib) << 20;
        row["limited_by"] = report.at("limit");
        row["node_peak_bytes"] = report.at("peak_held_bytes");
        row["node_major_faults"] = report.at("major_faults");
    }
    return row;
}

/// One table while its launches are made.
class RunningFtTable {
  public:
    RunningFtTable(FtTable table, FtOptions const& options)
        : table_(std::move(table)),
          options_(options),
          order_(ft_launches(table_, options.pairs)),
          launches_(table_.cells.size()) {}

    std::size_t size() const { return order_.size(); }

    int run(std::size_t at) {
        if (at == 0) print_head();
        FtCell const& cell = table_.cells[order_[at]];
        Row const row = run_ft(cell, options_);
        launches_[order_[at]].push_back(row);
        if (!row.is_null()) std::cout << (options_.json ? row.dump() + "\n" : ft_line(cell, row)) << std::flush;
        return row.is_null() ? 1 : 0;
    }
    /// What follows the launches that were made.
    void print_end() const {
        std::vector<Row> const ratios = options_.pairs > 1 ? ft_ratios(table_, launches_) : std::vector<Row>();
        if (options_.json) {
            for (Row const& row : ratios)
                std::cout << row.dump() << "\n";
        } else if (std::ranges::any_of(launches_, [](auto const& of_cell) { return !of_cell.empty(); })) {
            std::vector<Row> typical;
            for (std::vector<Row> const& of_cell : launches_)
                typical.push_back(ft_typical(of_cell));
            std::cout << "\n" << ft_matrices(table_, typical) << ft_ratio_lines(ratios);
        }
        std::cout << std::flush;
    }

  private:
    void print_head() const {
        FtCell const& first = table_.cells.front();
        if (!options_.json)
            std::cout << fmt::format("class {} · {} ranks · {} node{} · {}\n", options_.problem, first.ranks,
                                     first.nodes, first.nodes == 1 ? "" : "s", first.mpi)
                      << ft_columns();
    }

    FtTable table_;
    FtOptions const& options_;
    std::vector<std::size_t> order_;
    FtLaunches launches_;
};

void add_ft_options(command_line::CommandLine& line, FtOptions& options) {
    FtChoice& choice = options.choice;
    line.option("--ranks", choice.ranks, "numbers of ranks").separated_by_commas().shows_default();
    line.option("--nodes", choice.nodes, "numbers of nodes; more than one are joined by wires (root)")
        .separated_by_commas()
        .between(1, 64)
        .shows_default();
    line.option("--form", choice.forms,
                "plain, plain_run, in_place, out_of_place, streamed, tasks_normal, tasks (all but out_of_place)")
        .separated_by_commas();
    line.option("--tasks", choice.tasks, "tasks on each rank (8, and in a table of their own 2, 4, 8, 16, 32)")
        .separated_by_commas()
        .between(1, 1024);
    line.option("--tokens", choice.tokens, "messages that a rank may hold, for the form tasks")
        .separated_by_commas()
        .between(1, 1 << 20)
        .shows_default();
    line.option("--case", options.problem, "class of the problem").one_of({"S", "W", "A"}).shows_default();
    line.option("--node-mib", choice.node_mib,
                "memory of each node in MiB; 0: no limit (0, 560 … 190, divided by the number of nodes)")
        .separated_by_commas()
        .not_negative();
    line.option("--swap-mib", options.swap_mib, "swap of the nodes").not_negative().shows_default();
    line.option("--rate", options.rate_mbit, "Mbit/s of each wire").positive().shows_default();
    line.option("--pairs", options.pairs, "launches of each form; those that are compared take turns")
        .between(1, 1000)
        .shows_default();
    line.option("--minutes", options.minutes, "begin no launch after this number of minutes; 0: no limit")
        .not_negative()
        .shows_default();
    line.option("--seconds", options.seconds, "end a limited run after so many seconds").positive().shows_default();
    line.option("--mpi", options.mpis, "openmpi, mpich (those found)").separated_by_commas();
    line.flag("--json", options.json, "one JSON object on each line instead of tables");
}

}  // namespace

int bench_ft(std::vector<std::string> const& arguments) {
    FtOptions options;
    command_line::CommandLine line(
        "sluice bench ft",
        "The problem FT of the NAS Parallel Benchmarks: transposes by MPI_Alltoall, in place, "
        "streamed, and by many tasks, in small nodes");
    add_ft_options(line, options);
    if (!line.parse(arguments)) return 0;
    check_bench_choice(options.mpis, options.choice.ranks);
    for (std::string const& form : options.choice.forms)
        if (std::ranges::find(k_ft_forms, form) == std::end(k_ft_forms)) throw unknown("form", form, k_ft_forms);
    if (options.mpis.empty()) options.mpis = mpis_with_program(k_ft_program, false);
    std::vector<RunningFtTable> tables;
    std::vector<std::pair<std::size_t, std::size_t>> launches;  // of which table, and which of it
    for (std::string const& mpi : options.mpis)
        for (FtTable& table : plan_ft(options.choice, mpi)) {
            RunningFtTable const& added = tables.emplace_back(std::move(table), options);
            for (std::size_t launch = 0; launch < added.size(); ++launch)
                launches.emplace_back(tables.size() - 1, launch);
        }
    std::size_t at = 0;
    int const worst = run_cells(launches.size(), options.minutes, [&](std::size_t launch) {
        auto const [table, of_table] = launches[launch];
        if (table != at) tables[std::exchange(at, table)].print_end();
        return tables[table].run(of_table);
    });
    if (!tables.empty()) tables[at].print_end();
    return worst;
}

}  // namespace sluice::cli
