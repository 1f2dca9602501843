// SPDX-License-Identifier: BSD-3-Clause
/// Code of the MPI's library that was used once, in MPI_Init and by Sluice's own calls there: up to 2 MiB of MPICH's.
#pragma once

namespace sluice::plugin {

/// Gives its pages back to the kernel, which has them in its cache: what is used again comes again, at 1 µs for each
/// 64 KiB. Before the next step of the start, or the pages of both add up to the peak of a rank that does nothing else.
void give_back_mpi_pages() noexcept;

}  // namespace sluice::plugin
