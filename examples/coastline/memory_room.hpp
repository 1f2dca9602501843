// SPDX-License-Identifier: BSD-3-Clause
/// How much memory the job has, and how much of it a step takes.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>

namespace coastline {

/// Of all ranks together. No limit: 0.
struct MemoryRoom {
    std::string source;
    std::uint64_t limit = 0;
    std::uint64_t held = 0;
};

/// Collective. The control group that the limited bed made (environment variable LIMITED_CGROUP: all of the job's
/// memory that cannot be dropped: private pages, shared pages, the kernel's), else RLIMIT_DATA (private writable
/// mappings).
MemoryRoom memory_room(MPI_Comm comm);

/// Growth of this process's resident set from here on, at its peak.
class ResidentGrowth {
  public:
    ResidentGrowth();
    std::uint64_t peak() const;

  private:
    std::uint64_t before_;
};

}  // namespace coastline
