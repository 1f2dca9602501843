// SPDX-License-Identifier: BSD-3-Clause
/// The report of a job that has ended and whose ranks were all on one node. It is made from the node's file, by a
/// command that the plugin starts: so the memory that it takes is not that of a rank.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "report/read/node_files.hpp"

namespace sluice::report {

struct EndedJob {
    std::string records;     ///< the node's file
    bool is_watched = true;  ///< false: only what services counted is told
    std::string folder;      ///< for report.json, trace.json and the page; empty: none
};

inline constexpr char k_at_end[] = "--at-end";

/// The job as arguments of `sluice report`, which begin with k_at_end, and back; nothing if they are others.
std::vector<std::string> arguments_of(EndedJob const& job);
std::optional<EndedJob> ended_job_in(std::vector<std::string> const& arguments);

/// What is done to a report before it is shown or written, such as to name the lines of sources.
using Completion = std::function<void(LeftBehind&)>;

/// Writes the files and returns the lines to print. If a file cannot be written, a line says so. Throws
/// Error(invalid_argument) if no record can be read.
std::string report_at_end(EndedJob const& job, std::span<char const* const> functions,
                          std::filesystem::path const& page_template, Completion const& complete = {});

}  // namespace sluice::report
