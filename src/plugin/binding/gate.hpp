// SPDX-License-Identifier: BSD-3-Clause
/// Whether a wrapper acts or hands the call on at once.
///
/// A call comes in several times: a program's MPI_Send may reach PMPI_Send through another tool, Open MPI's Fortran
/// enters by PMPI_X, MPICH's by MPI_X, and MPI calls itself. The first entry of a thread acts; the deeper ones pass.
#pragma once

#include <atomic>

#include "libmpi.hpp"

namespace sluice::plugin {

/// Preloaded at the start of a program, so thread-local storage is at a fixed place.
extern constinit thread_local int t_depth __attribute__((tls_model("initial-exec")));

/// MPI was found, once and of the kind this plugin was built for. Before that every call passes.
extern bool g_acting;
/// Between MPI_Init and MPI_Finalize of a job that is watched.
extern std::atomic<bool> g_watching;
/// Set last: a thread that sees it sees the other fields, too.
extern std::atomic<bool> g_located;

/// Looks for what lies below us; says once on standard error why we stand aside, if we do.
void locate_below();

/// Functions of the next tool or of libmpi; found at the first call, for MPI may be loaded late.
inline Below const& below() {
    if (!g_located.load(std::memory_order_acquire)) locate_below();
    return g_below;
}

inline bool stands_below() {
    if (!g_located.load(std::memory_order_acquire)) locate_below();
    return t_depth > 0 || !g_acting;
}

inline bool stands_aside() {
    return t_depth > 0 || !g_watching.load(std::memory_order_acquire);
}

/// While it lives, MPI calls of this thread pass: they are our own.
class Inside {
  public:
    Inside() noexcept { ++t_depth; }
    Inside(Inside const&) = delete;
    Inside& operator=(Inside const&) = delete;
    ~Inside() { --t_depth; }
};

}  // namespace sluice::plugin
