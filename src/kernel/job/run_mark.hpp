// SPDX-License-Identifier: BSD-3-Clause
/// What `sluice run` leaves in the environment: which process it became, and which job that process is a rank of.
///
///     _SLUICE_RUN = "4711.163705 pmix.6d0c35b8 - -"     number and start of the process, and its launchers
///
/// Children of the process inherit the mark with the preload; so do the ranks of another MPI job that one of them
/// starts. They are told apart by their launchers:
///
///     mpirun ── sluice run = program ── child                 of this job: watched if it calls MPI_Init
///                                   └── mpirun ── program     of another job: what was asked of Sluice is not for it
#pragma once

#include <string>

namespace sluice::kernel {

inline constexpr char k_run_variable[] = "_SLUICE_RUN";

/// The mark of this process, for k_run_variable.
std::string run_mark();

/// True in the process that `sluice run` became; false in its children and where there was no `sluice run`. Never
/// throws.
bool is_run_itself() noexcept;

/// True if `sluice run` stands in another job than this process; false where that cannot be told.
bool is_of_other_job();

}  // namespace sluice::kernel
