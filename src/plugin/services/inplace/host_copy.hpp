// SPDX-License-Identifier: BSD-3-Clause
/// The blocks of an all-to-all in place whose buffer lies in memory of a device, packed by the MPI into memory of the
/// host.
///
///     buffer on the device ── MPI_Pack ──> copy | 0 | 2 | 3 | ── exchanged in place ── MPI_Unpack ──> buffer
///
/// The other ranks of the call do not know of it, so one rank may do so alone. Memory: the bytes of all blocks but the
/// own and 16 bytes for each member, which are leased.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>

#include "collectives/inplace_blocks.hpp"
#include "plugin/tables/memory.hpp"

namespace sluice::plugin {

/// Packs the block for a member, which has bytes, into `copy` (`out`), or puts it back from there, by calls of the MPI:
/// it may know the device's memory. Throws Error(mpi).
void move_by_mpi(collectives::InplaceBlocks const& blocks, int member, std::byte* copy, bool out, MPI_Comm comm);

class HostCopy {
  public:
    /// Packs the blocks of all `size` members but `rank`. Throws Error(out_of_memory) or Error(mpi). `comm` is for the
    /// calls of MPI_Pack.
    HostCopy(collectives::InplaceBlocks const& blocks, int rank, int size, MPI_Comm comm, Budget const& budget);
    HostCopy(HostCopy const&) = delete;
    HostCopy& operator=(HostCopy const&) = delete;

    /// The same blocks, as bytes of the copy.
    collectives::InplaceBlocks blocks() const noexcept;
    /// Puts what has arrived into the buffer. Throws Error(mpi).
    void unpack();

  private:
    void move(bool out);

    collectives::InplaceBlocks const of_;
    MPI_Comm comm_;
    memory::LeasedVector<std::int64_t> lengths_;  // in bytes
    memory::LeasedVector<std::int64_t> places_;
    Memory memory_;
};

}  // namespace sluice::plugin
