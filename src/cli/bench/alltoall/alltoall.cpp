// SPDX-License-Identifier: BSD-3-Clause
// `sluice bench alltoall`: one launch for each MPI, number of ranks and case.
#include <fmt/format.h>

#include "cli/bench/alltoall/table.hpp"
#include "cli/bench/bench.hpp"
#include "cli/bench/launch.hpp"
#include "cli/bench/local_cells.hpp"
#include "command_line/command_line.hpp"

namespace sluice::cli {

int bench_alltoall(std::vector<std::string> const& arguments) {
    static constexpr std::string_view k_cases[] = {"alltoall", "alltoallv"};
    static constexpr std::string_view k_buffers[] = {"warm", "cold"};
    LocalCells cells;
    cells.program = "sluice-bench-alltoall";
    cells.bytes = {8, 64, 512, 4096, 16384, 65536, 1048576, 16777216};
    cells.table = alltoall_table;
    std::vector<std::string> buffers;
    command_line::CommandLine line("sluice bench alltoall",
                                   "All-to-alls from one buffer into another: the MPI library's own, each algorithm of "
                                   "this library, and the choice of its rule, side by side");
    line.option("--case", cells.cases, "alltoall, alltoallv (both)").separated_by_commas();
    line.option("--buffers", buffers, "warm, cold (both)").separated_by_commas();
    add_local_options(line, cells);
    if (!line.parse(arguments)) return 0;
    check_words(cells.cases, k_cases, "case");
    check_words(buffers, k_buffers, "kind of buffers");
    cells.more = {"--buffers", fmt::format("{}", fmt::join(buffers, ","))};
    return run_local_cells(cells);
}

}  // namespace sluice::cli
