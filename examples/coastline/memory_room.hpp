// SPDX-License-Identifier: BSD-3-Clause
/// How much memory the job has, and how much of it a step takes.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>

namespace coastline {

/// Of all ranks together. The limit is 0 if there is none.
struct MemoryRoom {
    std::string source;
    std::uint64_t limit = 0;
    std::uint64_t held = 0;
};

/// Collective. Reads the control group that the limited bed made, whose name is in the environment variable
/// LIMITED_CGROUP; it counts all of the job's memory that cannot be dropped: private pages, shared pages, the kernel's.
/// Without such a group it reads RLIMIT_DATA, which counts private writable mappings.
MemoryRoom memory_room(MPI_Comm comm);

/// Measures the peak by which this process's resident set grows from now on.
class ResidentGrowth {
  public:
    ResidentGrowth();
    std::uint64_t peak() const;

  private:
    std::uint64_t before_;
};

}  // namespace coastline
