// SPDX-License-Identifier: BSD-3-Clause
/// Asks an MPI about itself, by a program on one rank.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "cli/support/installation.hpp"

namespace sluice::cli {

/// Returns the row of `sluice-probe-mpi` ("library", "provided", …), or null, and then `why` it failed.
nlohmann::json ask_mpi(MpiBuild const& build, std::string& why);

}  // namespace sluice::cli
