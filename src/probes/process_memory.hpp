// SPDX-License-Identifier: BSD-3-Clause
/// The memory of this process as the kernel counts it: proportionally, so that the sum over the ranks of a node is the
/// memory of the node.
#pragma once

#include <cstdint>

namespace sluice::probes {

/// Bytes, by their use. From /proc/self/smaps, because smaps_rollup has only their sum.
struct ProcessMemory {
    std::uint64_t anonymous;  ///< this process alone: heap, stacks, written pages of libraries
    std::uint64_t shared;     ///< its share of segments that processes map together (Pss of MAP_SHARED mappings)
    std::uint64_t files;  ///< its share of programs and libraries (Pss of what is not anonymous in private mappings)
    std::uint64_t heap;   ///< handed out by malloc and not freed; exact, and a part of `anonymous` as far as touched
};

/// Reads the memory of this process.
/// Allocates nothing, so that reading changes nothing. Throws std::runtime_error if the kernel has no /proc/self/smaps.
ProcessMemory read_process_memory();

}  // namespace sluice::probes
