// SPDX-License-Identifier: BSD-3-Clause
/// Records that jobs left behind which did not end: how many of them stay, and for how long.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

namespace sluice::report {

/// Below folder_of_jobs(): so many jobs of this node that did not end keep their records, the last ones, for so long.
inline constexpr std::size_t k_jobs_kept = 4;
inline constexpr std::chrono::hours k_kept_for{7 * 24};
/// In a folder that was named: of so many earlier jobs of this node.
inline constexpr std::size_t k_earlier_kept = 1;

/// What became of whoever wrote some records.
struct Remains {
    std::filesystem::path path;           ///< a job's folder, or a file
    std::uint64_t last_sign_unix_us = 0;  ///< of any rank; where none gave one, when the files were written
    bool alive = false;                   ///< a process that has a record here lives
    bool gone = false;                    ///< all of them are known to live no more; neither: it cannot be told
};

/// The jobs below `jobs`, each a folder with records; the last first. Nothing where there is no such folder.
std::vector<Remains> jobs_left_in(std::filesystem::path const& jobs);

/// Removes what is beyond the limits from `jobs`: records and reports made of them, and folders that are empty then.
/// Never those of a process that lives, never `mine` (the caller's), nothing of another user, no file of another name;
/// what cannot be told only when it is older than k_kept_for. Says nothing and never throws: what stays, stays.
void remove_old_jobs(std::filesystem::path const& jobs, std::filesystem::path const& mine) noexcept;

/// The same for the files of earlier jobs in a report's folder; `mine` is the caller's file in it. Those of other nodes
/// stay: their nodes remove them.
void remove_old_records(std::filesystem::path const& folder, std::filesystem::path const& mine) noexcept;

}  // namespace sluice::report
