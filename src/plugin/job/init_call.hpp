// SPDX-License-Identifier: BSD-3-Clause
/// MPI_Init as a call of the program: what it took, written down like any other call's share.
#pragma once

#include <cstdint>

#include "functions.hpp"
#include "plugin/tables/memory_watch.hpp"
#include "plugin/watch/watch.hpp"

namespace sluice::plugin {

/// hwloc looks for OpenCL devices, and their drivers load it.
inline constexpr char const* k_compiler = "libLLVM";

struct InitCall {
    Function function;            ///< MPI_Init or MPI_Init_thread
    void const* caller;           ///< where the program called it
    MemoryWatch::Reading before;  ///< memory before libmpi ran
    KernelSays kernel;            ///< at that reading
    std::uint64_t began;          ///< in ticks
    bool had_compiler;            ///< libLLVM was loaded before
};

/// Writes the memory that MPI_Init took, and its place in the table of calls. `after`: memory when it returned, and
/// `kernel`: what was said with it.
/// `with_history`: the first two points of the curve are the process's memory before and after it.
void account_for_init(Watch& watch, InitCall const& init, MemoryWatch::Reading const& after, KernelSays const& kernel,
                      bool with_history);

/// Bytes from one figure to the next, and `before`; at least 0.
std::uint64_t grown(std::uint64_t from, std::uint64_t to, std::int64_t before = 0) noexcept;

}  // namespace sluice::plugin
