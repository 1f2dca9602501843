// SPDX-License-Identifier: BSD-3-Clause
/// The files of a report in a folder: report.json, trace.json, report.html.
#pragma once

#include <filesystem>
#include <functional>
#include <ostream>
#include <string>

#include "kernel/files/folder.hpp"
#include "report/summary/summary.hpp"

namespace sluice::report {

/// Writes to a new file of a random name in the folder, syncs it and renames it, so the file is complete or absent, and
/// nothing that another user has put there is followed or written to. Its mode is that of the umask. Throws
/// Error(unsupported) with the path and the system's reason: not writable, disk full.
void write_whole(kernel::Folder const& folder, std::string const& name,
                 std::function<void(std::ostream&)> const& write);

/// The same for a path that the user named. Throws, too, if it is a device or a pipe, in whose place no file belongs.
void write_whole(std::filesystem::path const& path, std::function<void(std::ostream&)> const& write);

/// Makes the folder if it is missing and writes report.json, trace.json and, if `page_template` is not empty,
/// report.html. Throws like write_whole.
void write_report(std::filesystem::path const& path, Summary const& summary,
                  std::filesystem::path const& page_template);

/// Throws Error(invalid_argument) if the file is missing, no regular file, too large, or not a report.
Summary read_report(std::filesystem::path const& path);

}  // namespace sluice::report
