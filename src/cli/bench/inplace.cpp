// SPDX-License-Identifier: BSD-3-Clause
// `sluice bench inplace`: one launch for each MPI, number of ranks and case.
#include "cli/bench/bench.hpp"
#include "cli/bench/launch.hpp"
#include "cli/bench/local_cells.hpp"
#include "cli/bench/table.hpp"
#include "command_line/command_line.hpp"

namespace sluice::cli {

int bench_inplace(std::vector<std::string> const& arguments) {
    static constexpr std::string_view k_exchanges[] = {"alltoall", "alltoallv", "alltoallw", "alltoallw_rows"};
    LocalCells cells;
    cells.program = "sluice-bench-inplace";
    cells.bytes = {1024, 16000, 65536, 1048576, 10485760};
    cells.table = inplace_table;
    command_line::CommandLine line(
        "sluice bench inplace", "All-to-all exchanges in place: this library and the MPI library's own, side by side");
    line.option("--case", cells.cases, "alltoall, alltoallv, alltoallw, alltoallw_rows (all)").separated_by_commas();
    add_local_options(line, cells);
    if (!line.parse(arguments)) return 0;
    check_words(cells.cases, k_exchanges, "case");
    return run_local_cells(cells);
}

}  // namespace sluice::cli
