// SPDX-License-Identifier: BSD-3-Clause
/// The files of a report in a folder: report.json, trace.json, report.html.
#pragma once

#include <filesystem>
#include <functional>
#include <ostream>
#include <string>

#include "report/summary/summary.hpp"

namespace sluice::report {

/// Writes to a temporary name in the folder of `path`, syncs it and renames it, so the file is complete or absent.
/// Throws Error(unsupported) with the path and the system's reason: not writable, disk full.
void write_whole(std::filesystem::path const& path, std::function<void(std::ostream&)> const& write);

/// Makes the folder if it is missing and writes report.json, trace.json and, if `page_template` is not empty,
/// report.html. Throws like write_whole.
void write_report(std::filesystem::path const& folder, Summary const& summary,
                  std::filesystem::path const& page_template);

/// Throws Error(invalid_argument) if the file is missing or is not a report.
Summary read_report(std::filesystem::path const& path);

}  // namespace sluice::report
