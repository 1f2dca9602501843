// SPDX-License-Identifier: BSD-3-Clause
/// How a job ends. The program may need other ranks in MPI_Finalize: MPI deletes the attributes of MPI_COMM_SELF first,
/// the last that was set first, and their delete functions may communicate, also with ranks that have not come to
/// MPI_Finalize. So all that we do together ends in the delete function of an attribute of our own:
///
///     MPI_Finalize ── services of one rank stop ── libmpi ── functions of the program ── ours ── … ── the report
///                                                            │ calls are served          └ services stop,
///                                                            └ as ever                     records join
///
/// It also runs where the program calls MPI_Finalize past the wrappers.
#pragma once

namespace sluice::plugin {

/// Sets that attribute. In MPI_Init, ahead of those of the program.
void end_in_finalize() noexcept;

}  // namespace sluice::plugin
