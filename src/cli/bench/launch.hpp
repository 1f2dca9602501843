// SPDX-License-Identifier: BSD-3-Clause
/// What benchmarks share that launch programs: checks before, launchers, and the limit of time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/support/command.hpp"

namespace sluice::cli {

/// Returns the MPIs that have the benchmark `program` next to their library; the simulator alone, or all but the
/// simulator. Throws if there is none.
std::vector<std::string> mpis_with_program(char const* program, bool simulated);

/// Returns "NAME=value" that lets root start Open MPI. It leaves the way in which an MPI waits at its default.
std::vector<std::string> launch_environment();

/// Throws UsageError for words that are not known; without any, all are meant.
template <std::size_t N>
void check_words(std::vector<std::string>& given, std::string_view const (&known)[N], char const* what) {
    for (std::string const& word : given)
        if (std::find(std::begin(known), std::end(known), word) == std::end(known)) throw unknown(what, word, known);
    if (given.empty()) given.assign(std::begin(known), std::end(known));
}

/// Throws UsageError for names of MPIs that do not exist and numbers of ranks below 1.
void check_bench_choice(std::vector<std::string> const& mpis, std::vector<int> const& ranks);

/// Returns the path of a benchmark's program for that MPI. Throws std::runtime_error if it is not installed.
std::string bench_program(std::string const& mpi, std::string const& name);

/// Returns the part of a command line that precedes the program, for `ranks` ranks in network namespaces that wires of
/// `rate_mbit` join; without `nodes` each rank is a node. Throws std::runtime_error if the bed is not installed.
std::vector<std::string> cluster_launcher(std::string const& mpi, int ranks, double rate_mbit,
                                          std::optional<int> nodes = {});

/// Calls `run` with the number of each of `cells`, and begins none after `minutes` (0: no limit); says how many were
/// left out. Returns the largest exit code.
int run_cells(std::size_t cells, double minutes, std::function<int(std::size_t cell)> const& run);

}  // namespace sluice::cli
