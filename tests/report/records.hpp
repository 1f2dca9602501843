// SPDX-License-Identifier: BSD-3-Clause
/// Records of jobs that never ran, filled as the plugin fills records: their figures are known.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "record/record.hpp"

namespace sluice::report {

using RecordPointer = std::unique_ptr<record::RankRecord>;

/// The names, by Site::function, in all records here.
inline constexpr std::array<char const*, 8> k_names{"MPI_Init",      "MPI_Isend",    "MPI_Recv",    "MPI_Waitall",
                                                    "MPI_Alltoallv", "MPI_Comm_dup", "MPI_Barrier", "MPI_Allreduce"};

enum class Story {
    healthy,  ///< halo exchange and a transpose in each step; rank size-1 is slow, and the others wait
    early,    ///< the same, and receives return before their data have come
    flooded,  ///< rank 0 receives late: MPI's memory grows steadily from 4 s on, and the rank is killed at 12 s near
              ///< its limit
    stood,    ///< the application of rank 1 takes 267 MiB from 1.15 s to 4 s and stands at the limit of its node, where
              ///< it is killed at 12 s
};

/// Makes a record of 12 seconds with a sample every 10 ms. In the healthy story the peak is 400 MiB + 4 MiB x rank, at
/// 8 s, in the transpose, with 120 MiB in flight there.
RecordPointer make_record(std::uint32_t rank, std::uint32_t world_size, Story story = Story::healthy);

/// Writes one node file for each `ranks_per_node` ranks, named as the plugin names them.
void write_node_files(std::filesystem::path const& folder, std::uint32_t world_size, std::uint32_t ranks_per_node,
                      Story story);

/// Makes an empty folder in the system's folder for temporary files.
std::filesystem::path fresh_folder(std::string const& name);

}  // namespace sluice::report
