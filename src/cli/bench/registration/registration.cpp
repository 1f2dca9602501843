// SPDX-License-Identifier: BSD-3-Clause
// `sluice bench registration`: one process, without MPI; the program stands beside the library of an MPI.
#include <fmt/format.h>

#include <iostream>

#include "cli/bench/bench.hpp"
#include "cli/bench/launch.hpp"
#include "cli/bench/registration/table.hpp"
#include "cli/support/command.hpp"
#include "cli/support/installation.hpp"
#include "cli/support/launch.hpp"
#include "command_line/command_line.hpp"

namespace sluice::cli {

namespace {

constexpr char const* k_registration_program = "sluice-bench-registration";
constexpr int k_quiet_seconds = 300;

struct RegistrationWish {
    std::vector<std::string> cases;
    std::vector<std::string> schemes;
    std::string registrar = "counting";
    int pairs = 5;
    double seconds = 2;
    double most_mib = 1024;
    bool json = false;
};

std::vector<std::string> registration_command(RegistrationWish const& wish) {
    std::string const mpi = mpis_with_program(k_registration_program, false).front();
    std::vector<std::string> command{program_for(mpi, k_registration_program)->string(),
                                     "--registrar",
                                     wish.registrar,
                                     "--pairs",
                                     std::to_string(wish.pairs),
                                     "--seconds",
                                     fmt::format("{}", wish.seconds),
                                     "--most-mib",
                                     fmt::format("{}", wish.most_mib)};
    if (!wish.cases.empty()) command.insert(command.end(), {"--case", fmt::format("{}", fmt::join(wish.cases, ","))});
    if (!wish.schemes.empty())
        command.insert(command.end(), {"--scheme", fmt::format("{}", fmt::join(wish.schemes, ","))});
    return command;
}

}  // namespace

int bench_registration(std::vector<std::string> const& arguments) {
    RegistrationWish wish;
    command_line::CommandLine line("sluice bench registration",
                                   "Registered memory over time: streams of programs' buffers through the schemes of "
                                   "MPI libraries, the helper of Sluice, and the best with the future known");
    line.option("--case", wish.cases, "shapes: figure1_reuse, noisy, bt, ft, tasks1, … (all)").separated_by_commas();
    line.option("--scheme", wish.schemes, "leave_pinned, direct, pipelined, lru, published, periodicity, sluice (all)")
        .separated_by_commas();
    line.option("--registrar", wish.registrar,
                "counting: on a turned clock, without memory; mlock, io_uring: in real time, with real buffers")
        .one_of({"counting", "mlock", "io_uring"})
        .shows_default();
    line.option("--pairs", wish.pairs, "runs of each scheme in real time, in turns").between(1, 1000).shows_default();
    line.option("--seconds", wish.seconds, "a run in real time is made so much faster that it takes about this long")
        .between(0.01, 10000.0)
        .shows_default();
    line.option("--most-mib", wish.most_mib, "shapes with more memory are not run in real time")
        .between(1.0, 1e6)
        .shows_default();
    line.flag("--json", wish.json, "one JSON object on each line instead of tables");
    if (!line.parse(arguments)) return 0;
    std::vector<Row> rows;
    Ended const ended = launch(registration_command(wish), {}, k_quiet_seconds, [&](std::string const& text) {
        Row row = Row::parse(text, nullptr, false);
        if (row.is_discarded()) return;
        if (wish.json) std::cout << row.dump() << std::endl;
        rows.push_back(std::move(row));
    });
    if (!wish.json) std::cout << registration_table(rows) << std::flush;
    if (ended.code == 0) return 0;
    std::cerr << fmt::format("sluice: the program ended with code {}\n{}", ended.code, ended.complaints);
    return ended.code == 2 ? 2 : 1;
}

}  // namespace sluice::cli
