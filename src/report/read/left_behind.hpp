// SPDX-License-Identifier: BSD-3-Clause
/// Records of jobs that did not end: how many of them are kept, and for how long.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

namespace sluice::report {

/// How many unfinished jobs of a node keep their records below the folder of jobs, and for how long.
inline constexpr std::size_t k_jobs_kept = 4;
inline constexpr std::chrono::hours k_kept_for{7 * 24};
/// How many earlier jobs of this node keep their records in a folder that the user named.
inline constexpr std::size_t k_earlier_kept = 1;

/// The state of the processes that wrote some records.
struct Remains {
    std::filesystem::path path;           ///< a job's folder, or a file
    std::uint64_t last_sign_unix_us = 0;  ///< of any rank; the time when the files were written if no rank gave a sign
    bool alive = false;                   ///< a process that has a record here lives
    bool gone = false;  ///< all these processes have ended; if neither is true, their state is unknown
};

/// Returns the jobs below `jobs`, each a folder with records, the newest first; empty if there is no such folder.
std::vector<Remains> jobs_left_in(std::filesystem::path const& jobs);

/// Removes what is beyond the limits from `jobs`: records, the reports made of them, and folders that are then empty.
/// It keeps the records of living processes, `mine` (the caller's), files of other users and files of other names;
/// records of unknown state are removed only if older than k_kept_for. Never throws and reports no failure.
void remove_old_jobs(std::filesystem::path const& jobs, std::filesystem::path const& mine) noexcept;

/// Does the same for the files of earlier jobs in a report's folder; `mine` is the caller's file in it. The files of
/// other nodes stay: their nodes remove them.
void remove_old_records(std::filesystem::path const& path, std::filesystem::path const& mine) noexcept;

}  // namespace sluice::report
