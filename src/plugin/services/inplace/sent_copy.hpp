// SPDX-License-Identifier: BSD-3-Clause
/// What a nonblocking all-to-all in place sends: its blocks, packed and set aside before the call begins, so that it
/// can go on as one that is not in place.
///
///     buffer of the program      copy            sent as
///     | 0 | me | 2 | 3 |   ->    |0| 2 | 3|      one datatype for each peer, relative to the copy
///       ^ received into by the program's own types
///
/// MPI may read the copy, the list of datatypes and the datatypes until the request is complete, so this object must
/// live until then. Memory: the bytes of all blocks but the own, which are leased, and a datatype for each peer, which
/// is MPI's memory.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>

#include "collectives/inplace_blocks.hpp"
#include "plugin/tables/memory.hpp"

namespace sluice::plugin {

class SentCopy {
  public:
    /// Packs the blocks of all `size` members but `rank`. Throws Error(out_of_memory) or std::bad_alloc with nothing
    /// made, Error(mpi) for an invalid datatype.
    SentCopy(collectives::InplaceBlocks const& blocks, int rank, int size, Budget const& budget);
    ~SentCopy();
    SentCopy(SentCopy const&) = delete;
    SentCopy& operator=(SentCopy const&) = delete;

    void const* buffer() const noexcept { return memory_.get(); }
    std::uint64_t bytes() const noexcept { return bytes_; }
    std::uint64_t bytes_to(std::size_t member) const noexcept { return lengths_[member]; }
    /// To a member whom anything is sent goes 1 of its type, at displacement 0.
    MPI_Datatype const* types() const noexcept { return types_.data(); }

  private:
    void measure(collectives::InplaceBlocks const& blocks, int rank);
    void pack_blocks(collectives::InplaceBlocks const& blocks, int rank);
    void make_types();
    void free_types() noexcept;

    memory::LeasedVector<std::uint64_t> lengths_;  // in bytes
    memory::LeasedVector<MPI_Datatype> types_;
    std::uint64_t bytes_ = 0;
    Memory memory_;
};

}  // namespace sluice::plugin
