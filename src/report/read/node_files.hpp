// SPDX-License-Identifier: BSD-3-Clause
/// Reads what a job left behind: the files node-*.sluice of a folder, also half-written ones.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "report/summary/summary.hpp"

namespace sluice::report {

struct LeftBehind {
    Summary summary;
    std::vector<std::string> skipped;  ///< one line for each file or record that could not be used, with its reason
};

/// True when the folder holds at least one node-*.sluice.
bool has_node_files(std::filesystem::path const& folder);

/// Of the records of several jobs in one folder those of the job that began last are used, the others are among the
/// skipped. A rank whose record does not say how it ended is asked for (fate.hpp). One record is held in memory at a
/// time. Throws Error(invalid_argument) when no rank's record can be used, with the
/// first reason.
LeftBehind read_node_files(std::filesystem::path const& folder, std::span<char const* const> functions);

}  // namespace sluice::report
