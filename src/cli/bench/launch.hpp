// SPDX-License-Identifier: BSD-3-Clause
/// The checks that every benchmark makes before it launches anything.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sluice::cli {

/// Returns the MPIs that have the benchmark `program` next to their library; the simulator alone, or all but the
/// simulator. Throws if there is none.
std::vector<std::string> mpis_with_program(char const* program, bool simulated);

/// Returns "NAME=value" that lets root start Open MPI. It leaves the way in which an MPI waits at its default.
std::vector<std::string> launch_environment();

/// Throws UsageError for names of MPIs that do not exist and numbers of ranks below 1.
void check_bench_choice(std::vector<std::string> const& mpis, std::vector<int> const& ranks);

}  // namespace sluice::cli
