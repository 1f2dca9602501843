// SPDX-License-Identifier: BSD-3-Clause
/// An error of MPI that ends the job: that of a call whose error handler is MPI_ERRORS_ARE_FATAL. The rank itself is
/// the only one that can tell it, because the launcher kills all ranks before one can watch another end.
///
///     MPI_Send ── error ── the MPI prints it ── PMIx_Abort ── launcher ── SIGKILL to all ranks      Open MPI
///                                               └── ours, told first
///
/// MPICH writes to its launcher itself, and no function of the plugin comes before its end.
#pragma once

namespace sluice::plugin {

/// Nothing if this rank has called MPI_Abort before, which ends the job in the same way. Allocates nothing.
void note_fatal_error(int code) noexcept;

}  // namespace sluice::plugin
