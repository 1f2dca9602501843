// SPDX-License-Identifier: BSD-3-Clause
/// Whether a wrapper acts or hands the call on at once.
///
/// A call comes in several times: a program's MPI_Send may reach PMPI_Send through another tool, Open MPI's Fortran
/// enters by PMPI_X, MPICH's by MPI_X, and MPI calls itself. The first entry of a thread acts; the deeper ones pass.
#pragma once

#include "plugin/binding/plugin.hpp"

namespace sluice::plugin {

/// Entries of this thread that are open. Preloaded at the start of a program, so thread-local storage is at a fixed
/// place.
extern constinit thread_local int t_depth __attribute__((tls_model("initial-exec")));

/// Looks for what lies below us; says once on standard error why we stand aside, if we do.
void locate_below();

/// Functions of the next tool or of libmpi; found at the first call, for MPI may be loaded late.
inline Below const& below() {
    if (!g_plugin.located.load(std::memory_order_acquire)) locate_below();
    return g_plugin.below;
}

inline bool stands_below() {
    if (!g_plugin.located.load(std::memory_order_acquire)) locate_below();
    return t_depth > 0 || !g_plugin.acting;
}

/// The job that a wrapper acts for; null if it hands the call on.
inline Job* acting_job() {
    return t_depth > 0 ? nullptr : g_plugin.watched.load(std::memory_order_acquire);
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
