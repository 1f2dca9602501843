// SPDX-License-Identifier: BSD-3-Clause
/// Files of Sluice beside the plugin. Where it was installed and in its build folder they are one or two folders up.
#pragma once

#include <filesystem>

namespace sluice::plugin {

/// The template of the report's page; empty if there is none.
std::filesystem::path page_template();
/// The command `sluice`; empty if there is none.
std::filesystem::path sluice_command();

}  // namespace sluice::plugin
