// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// All-to-all exchanges in place, in bounded extra memory.
///
/// These functions do what MPI_Alltoall, MPI_Alltoallv and MPI_Alltoallw do with MPI_IN_PLACE: block j of rank i and
/// block i of rank j are swapped. MPI libraries copy a peer's whole block for each exchange; here 256 KiB suffice for
/// blocks of any size.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>

#include "sluice/context.hpp"
#include "sluice/error.hpp"
#include "sluice/export.h"

namespace sluice {

/// The figures of one in-place exchange on this rank.
struct AlltoallReport {
    Bytes exchanged;                  ///< bytes of this rank that were exchanged with other ranks
    Bytes staging;                    ///< staging that the call used
    std::uint64_t pairs_swapped = 0;  ///< peers whose memory was swapped directly with this rank's
    std::uint64_t pairs_staged = 0;   ///< peers reached by messages, chunk by chunk
    std::uint64_t pairs_small = 0;    ///< peers whose block was sent with the first message
    std::uint64_t pairs_lost = 0;     ///< of pairs_swapped: access was lost, messages did the rest
};

/// Collective over the context. Block j, `count` elements of `type` at `buffer` + j × `count` extents, changes places
/// with block i of rank j. `type` may have any shape, and another on each rank: blocks are paired in the order in which
/// MPI would pack them, byte by byte, and gaps are neither read nor written. A block may have more than 2 GiB.
/// Memory: Settings::inplace_staging, kept by the context for the next call, and the description of `type` (12 to 36
/// bytes for each block of an indexed or struct type, nothing for others), nothing that grows with ranks or counts.
/// Throws Error(invalid_argument) on both ranks of a pair whose blocks differ in bytes, with the other pairs exchanged
/// and theirs left as it was; on the caller alone, with nothing exchanged, for a negative count.
SLUICE_API AlltoallReport alltoall_in_place(Context& context, void* buffer, std::int64_t count, MPI_Datatype type);

/// The same with counts and displacements, in extents of `type`, for each rank. A pair whose blocks are empty on both
/// sides costs nothing; as in MPI, where only one of them is empty the other rank waits for ever.
SLUICE_API AlltoallReport alltoallv_in_place(Context& context, void* buffer, std::span<std::int64_t const> counts,
                                             std::span<std::int64_t const> displacements, MPI_Datatype type);

/// The same with a datatype for each rank; displacements are in bytes. Memory: the descriptions of at most seven types
/// at a time.
SLUICE_API AlltoallReport alltoallw_in_place(Context& context, void* buffer, std::span<std::int64_t const> counts,
                                             std::span<std::int64_t const> displacements,
                                             std::span<MPI_Datatype const> types);

}  // namespace sluice
