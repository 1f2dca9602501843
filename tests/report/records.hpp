// SPDX-License-Identifier: BSD-3-Clause
/// Records of jobs that never ran, filled as the plugin fills them: their figures are known.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "record/record.hpp"

namespace sluice::report {

using RecordPointer = std::unique_ptr<record::RankRecord>;

/// Names by Site::function of all records here.
inline constexpr std::array<char const*, 8> k_names{"MPI_Init",      "MPI_Isend",    "MPI_Recv",    "MPI_Waitall",
                                                    "MPI_Alltoallv", "MPI_Comm_dup", "MPI_Barrier", "MPI_Allreduce"};

enum class Story {
    healthy,  ///< halo exchange and a transpose each step; rank size-1 is slow, the others wait
    flooded,  ///< rank 0 receives late: MPI's memory grows steadily from 4 s on, killed at 12 s near its limit
};

/// 12 seconds, a sample every 10 ms. In the healthy story the peak is 400 MiB + 4 MiB x rank, at 8 s, in the transpose,
/// with 120 MiB in flight there.
RecordPointer make_record(std::uint32_t rank, std::uint32_t world_size, Story story = Story::healthy);

/// One node file for each `ranks_per_node` ranks, named as the plugin names them.
void write_node_files(std::filesystem::path const& folder, std::uint32_t world_size, std::uint32_t ranks_per_node,
                      Story story);

/// An empty folder in the system's temporary one.
std::filesystem::path fresh_folder(std::string const& name);

}  // namespace sluice::report
