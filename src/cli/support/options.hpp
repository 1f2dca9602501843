// SPDX-License-Identifier: BSD-3-Clause
/// Parses a command's options with CLI11; an unknown one is answered with the nearest known one.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace sluice::cli {

/// Returns true if the command should go on; false if the help was requested and printed, with `usage` (help.hpp).
/// Throws UsageError.
bool parse_options(CLI::App& app, std::vector<std::string> const& arguments, std::string const& usage = {});

}  // namespace sluice::cli
