// SPDX-License-Identifier: BSD-3-Clause
/// The origin of each setting's value.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sluice/settings.hpp"

namespace sluice::cli {

struct SettingOrigin {
    SettingRow row;
    std::string value;   ///< text that Settings::set accepts
    std::string origin;  ///< "default", "FILE:LINE" of the settings file, "environment" or "option"
};

/// Returns the settings as they would apply with `options` (name to text, as given on the command line) over the
/// environment and the settings file. Throws Error(invalid_argument) for values out of range.
std::vector<SettingOrigin> setting_origins(std::map<std::string, std::string> const& options);

/// Returns "4KiB … 1TiB" or "1 … 4096"; empty for a word, because its help lists the names that it may take.
std::string range_of(SettingRow const& row);

}  // namespace sluice::cli
