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
    std::string text;  ///< a text that the setting accepts
};

struct RunOptions {
    std::vector<GivenSetting> settings;
    /// The program and its arguments; at least the program.
    std::vector<std::string> command;
};

/// Returns nothing if the help was requested and printed. Throws UsageError. Throws Error(invalid_argument) for a value
/// that a setting does not accept, also if the value is in the environment.
std::optional<RunOptions> parse_run_options(std::vector<std::string> const& arguments);

}  // namespace sluice::cli
