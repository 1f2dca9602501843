// SPDX-License-Identifier: BSD-3-Clause
/// Settings as options of a command.
#pragma once

#include <string>

#include "sluice/settings.hpp"

namespace sluice::cli {

/// Returns the name of the option, such as "--inplace-staging".
std::string option_of(SettingRow const& row);

/// Returns the placeholder of its value in the help: SIZE, N, WORD or DIR; and in a sentence: "a size", "a number", ….
std::string value_name_of(SettingRow const& row);
std::string value_in_words(SettingRow const& row);

/// Calls Settings::set with a text from the command line. Its error names the option, which the user typed, and not the
/// variable. Throws Error(invalid_argument).
void set_by_option(Settings& settings, SettingRow const& row, std::string const& text);

}  // namespace sluice::cli
