// SPDX-License-Identifier: BSD-3-Clause
// `sluice bench ft`: the problem FT of the NAS Parallel Benchmarks, one launch for each form and each limit of memory.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>

#include "cli/bench/bench.hpp"
#include "cli/bench/launch.hpp"
#include "cli/bench/limited_bed.hpp"
#include "cli/bench/table.hpp"
#include "cli/support/command.hpp"
#include "cli/support/installation.hpp"
#include "cli/support/launch.hpp"
#include "cli/support/local_ranks.hpp"
#include "command_line/command_line.hpp"

namespace sluice::cli {

namespace {

constexpr char const* k_ft_program = "sluice-bench-ft";
constexpr std::string_view k_ft_forms[] = {"plain", "in_place", "out_of_place"};

struct FtOptions {
    std::vector<std::string> mpis;
    std::vector<int> ranks{4};
    std::vector<std::string> forms;
    std::vector<int> node_mib{0, 320, 280, 240, 200, 170};
    std::string problem = "A";
    int swap_mib = 1024;
    int seconds = 60;
    bool json = false;
};

struct FtCell {
    std::string mpi;
    int ranks;
    int node_mib;
    std::string form;
};

/// A run that has ended before it could print its row.
Row row_of_the_dead(FtCell const& cell, FtOptions const& options, std::string const& outcome) {
    return {{"bench", "ft"},    {"case", options.problem}, {"ranks", cell.ranks}, {"mpi", cell.mpi},
            {"bed", "limited"}, {"method", cell.form},     {"outcome", outcome}};
}

std::vector<std::string> ft_command(FtCell const& cell, FtOptions const& options) {
    auto const program = program_for(cell.mpi, k_ft_program);
    if (!program)
        throw std::runtime_error(fmt::format("{} for {} is not next to this command", k_ft_program, cell.mpi));
    std::vector<std::string> command = local_launcher(cell.mpi, cell.ranks);
    command.insert(command.end(), {program->string(), "--form", cell.form, "--case", options.problem, "--bed",
                                   cell.node_mib > 0 ? "limited" : "local"});
    return command;
}

/// Returns the row, or null after a failure that is no outcome.
Row run_ft(FtCell const& cell, FtOptions const& options) {
    std::optional<LimitedRun> bed;
    std::vector<std::string> command;
    if (cell.node_mib > 0) {
        LimitedRun::Limits limits;
        limits.node_mib = cell.node_mib;
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
        std::cerr << fmt::format("sluice: {} {} on {} ranks ended with code {}\n{}", cell.mpi, cell.form, cell.ranks,
                                 ended.code, ended.complaints);
        return {};
    }
    if (outcome != "ok") row = row_of_the_dead(cell, options, outcome);
    if (!report.is_null()) {
        row["node_bytes"] = static_cast<std::uint64_t>(cell.node_mib) << 20;
        row["limited_by"] = report.at("limit");
        row["node_peak_bytes"] = report.at("peak_held_bytes");
        row["node_major_faults"] = report.at("major_faults");
    }
    return row;
}

void print_ft(FtCell const& cell, Row const& row) {
    auto const number = [&](char const* name, char const* format) {
        return row.contains(name) ? fmt::format(fmt::runtime(format), row.at(name).get<double>()) : std::string("-");
    };
    std::string const faults =
        row.contains("node_major_faults") ? number("node_major_faults", "{:.0f}") : number("major_faults", "{:.0f}");
    std::cout << fmt::format("  {:>9} {:<13} {:>9} {:>13} {:>14} {:>9}\n",
                             cell.node_mib > 0 ? std::to_string(cell.node_mib) : "none", cell.form,
                             number("seconds", "{:.3f}"), faults, number("peak_mib", "{:.1f}"),
                             row.at("outcome").get<std::string>())
              << std::flush;
}

int run_ft_table(std::string const& mpi, int ranks, FtOptions const& options) {
    int worst = 0;
    if (!options.json)
        std::cout << fmt::format("class {} · {} ranks · {}\n  {:>9} {:<13} {:>9} {:>13} {:>14} {:>9}\n",
                                 options.problem, ranks, mpi, "node MiB", "transposes", "seconds", "major faults",
                                 "MiB of a rank", "outcome");
    for (int const node_mib : options.node_mib)
        for (std::string const& form : options.forms) {
            FtCell const cell{mpi, ranks, node_mib, form};
            Row const row = run_ft(cell, options);
            if (row.is_null())
                worst = 1;
            else if (options.json)
                std::cout << row.dump() << std::endl;
            else
                print_ft(cell, row);
        }
    return worst;
}

}  // namespace

int bench_ft(std::vector<std::string> const& arguments) {
    FtOptions options;
    command_line::CommandLine line(
        "sluice bench ft",
        "The problem FT of the NAS Parallel Benchmarks: transposes by MPI_Alltoall and in place, also in a small node");
    line.option("--ranks", options.ranks, "numbers of ranks").separated_by_commas().shows_default();
    line.option("--form", options.forms, "plain, in_place, out_of_place (plain, in_place)").separated_by_commas();
    line.option("--case", options.problem, "class of the problem").one_of({"S", "W", "A"}).shows_default();
    line.option("--node-mib", options.node_mib, "memory of the node in MiB; 0: no limit")
        .separated_by_commas()
        .shows_default();
    line.option("--swap-mib", options.swap_mib, "swap of the node").not_negative().shows_default();
    line.option("--seconds", options.seconds, "end a limited run after so many seconds").positive().shows_default();
    line.option("--mpi", options.mpis, "openmpi, mpich (those found)").separated_by_commas();
    line.flag("--json", options.json, "one JSON object on each line instead of tables");
    if (!line.parse(arguments)) return 0;
    check_bench_choice(options.mpis, options.ranks);
    for (std::string const& form : options.forms)
        if (std::ranges::find(k_ft_forms, form) == std::end(k_ft_forms)) throw unknown("form", form, k_ft_forms);
    if (options.forms.empty()) options.forms = {"plain", "in_place"};
    if (options.mpis.empty()) options.mpis = mpis_with_program(k_ft_program, false);
    int worst = 0;
    for (std::string const& mpi : options.mpis)
        for (int const ranks : options.ranks)
            worst = std::max(worst, run_ft_table(mpi, ranks, options));
    return worst;
}

}  // namespace sluice::cli
