// SPDX-License-Identifier: BSD-3-Clause
// `sluice bench inplace`: one launch for each MPI, number of ranks and case.
#include <fmt/format.h>

#include "cli/bench/bench.hpp"
#include "cli/bench/launch.hpp"
#include "cli/bench/local_cells.hpp"
#include "cli/bench/table.hpp"
#include "command_line/command_line.hpp"

namespace sluice::cli {

namespace {

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

}  // namespace

int bench_inplace(std::vector<std::string> const& arguments) {
    static constexpr std::string_view k_exchanges[] = {"alltoall", "alltoallv", "alltoallw", "alltoallw_rows"};
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
    check_words(options.cases, k_exchanges, "case");
    return run_local_cells({.program = "sluice-bench-inplace",
                            .mpis = options.mpis,
                            .ranks = options.ranks,
                            .cases = options.cases,
                            .arguments = {"--bytes", fmt::format("{}", fmt::join(options.bytes, ",")), "--pairs",
                                          std::to_string(options.pairs), "--bed", options.bed},
                            .minutes = options.minutes,
                            .json = options.json,
                            .table = inplace_table});
}

}  // namespace sluice::cli
