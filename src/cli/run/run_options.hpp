// SPDX-License-Identifier: BSD-3-Clause
/// The command line of `sluice run`: options of ours, then the program and its arguments.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sluice/settings.hpp"

namespace sluice::cli {

struct GivenSetting {
    SettingRow row;
    std::string text;  ///< one that the setting takes
};

struct RunOptions {
    std::vector<GivenSetting> settings;
    /// The program and its arguments; at least the program.
    std::vector<std::string> command;
};

/// Returns nothing if the help was requested and printed. Throws UsageError, and Error(invalid_argument) for a value,
/// also of the environment, that a setting does not take.
std::optional<RunOptions> parse_run_options(std::vector<std::string> const& arguments);

}  // namespace sluice::cli
