// SPDX-License-Identifier: BSD-3-Clause
// `sluice bench alltoall`: one launch for each MPI, number of ranks and case.
#include <fmt/format.h>

#include "cli/bench/alltoall/table.hpp"
#include "cli/bench/bench.hpp"
#include "cli/bench/launch.hpp"
#include "cli/bench/local_cells.hpp"
#include "command_line/command_line.hpp"

namespace sluice::cli {

namespace {

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

    return run_local_cells({.program = "sluice-bench-alltoall",
                            .mpis = options.mpis,
                            .ranks = options.ranks,
                            .cases = options.cases,
                            .arguments = {"--buffers", fmt::format("{}", fmt::join(options.buffers, ",")), "--bytes",
                                          fmt::format("{}", fmt::join(options.bytes, ",")), "--pairs",
                                          std::to_string(options.pairs), "--bed", options.bed},
                            .minutes = options.minutes,
                            .json = options.json,
                            .table = alltoall_table});
}

}  // namespace sluice::cli
