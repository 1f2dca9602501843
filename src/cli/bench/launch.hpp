// SPDX-License-Identifier: BSD-3-Clause
/// What every benchmark asks before it launches anything.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sluice::cli {

/// The MPIs beside whose library the benchmark `program` lies; the simulator alone, or all but the simulator. Throws
/// where there is none.
std::vector<std::string> mpis_with_program(char const* program, bool simulated);

/// "NAME=value" that lets root start Open MPI, and nothing that changes how an MPI waits: it is measured as it comes.
std::vector<std::string> launch_environment();

/// Refuses names of MPIs that do not exist and numbers of ranks below 1. Throws UsageError.
void check_bench_choice(std::vector<std::string> const& mpis, std::vector<int> const& ranks);

}  // namespace sluice::cli
