// SPDX-License-Identifier: BSD-3-Clause
/// The report as one HTML page that needs no network.
#pragma once

#include <filesystem>
#include <functional>
#include <ostream>
#include <span>
#include <string>

#include "report/summary/summary.hpp"

namespace sluice::report {

/// The template with the reports put in: one, or two to compare (before, after), as a function that writes it. Throws
/// Error(unsupported) when the template is missing or has no place for them.
std::function<void(std::ostream&)> page_of(std::filesystem::path const& page_template,
                                           std::span<Summary const> summaries);

/// Writes that page. Throws, too, when it cannot be written; then no partial page is left.
void write_page(std::filesystem::path const& page_template, std::span<Summary const> summaries,
                std::filesystem::path const& out);

/// Returns JSON that is safe inside a <script> element, whatever its strings hold.
std::string safe_in_script(std::string const& text);

}  // namespace sluice::report
