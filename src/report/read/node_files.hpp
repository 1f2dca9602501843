// SPDX-License-Identifier: BSD-3-Clause
/// Reads the records of a job: the files node-*.sluice of a folder, also half-written ones.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "report/summary/summary.hpp"

namespace sluice::report {

struct LeftBehind {
    Summary summary;
    std::vector<std::uint32_t> living;  ///< process numbers of some ranks that live on this machine
    std::vector<std::string> skipped;   ///< one line for each file or record that could not be used, with its
                                        ///< reason, and for figures that contradict each other
};

/// True when the folder holds at least one node-*.sluice.
bool has_node_files(std::filesystem::path const& folder);

/// If a folder holds the records of several jobs, those of the job that began last are used and the others are listed
/// as skipped. If a record does not say how its rank ended, the process is queried (fate.hpp). One record is held in
/// memory at once. Throws Error(invalid_argument), with the first reason, if no rank's record can be used. The summary
/// names the places by `functions`.
LeftBehind read_node_files(std::filesystem::path const& path, std::span<char const* const> functions);

/// The same of one file, whose ranks have all entered MPI_Finalize: they count as ended.
LeftBehind read_ended(std::filesystem::path const& node_file, std::span<char const* const> functions);

}  // namespace sluice::report
