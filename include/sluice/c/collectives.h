/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * All-to-all exchanges in place, in bounded extra memory, for C. They do what MPI_Alltoall, MPI_Alltoallv and
 * MPI_Alltoallw do with MPI_IN_PLACE: block j of rank i and block i of rank j are swapped. sluice/collectives.hpp says
 * the same for C++, sluice.h tells the rules of the whole C interface.
 *
 * All three are collective over the context, as their models are. They differ from the other collective functions in
 * one point: a wrong argument gives SLUICE_INVALID_ARGUMENT on the rank that passes it alone, with nothing exchanged
 * there, because a check on all ranks would cost a message on every call.
 *
 * Memory in addition to the buffer: the setting `inplace_staging` (256 KiB), which the context keeps for the next call,
 * and the description of the datatypes (12 to 36 bytes for each block of an indexed or struct type, of at most seven
 * types at once); nothing that grows with ranks or counts. */
#ifndef SLUICE_C_COLLECTIVES_H
#define SLUICE_C_COLLECTIVES_H

#include <mpi.h>
#include <stdint.h>

#include "sluice/c/context.h"
#include "sluice/c/report.h"
#include "sluice/export.h"
#ifdef __cplusplus
extern "C" {
#endif

/** Swaps blocks of equal shape. A block may have more than 2 GiB.
 * @param context     the ranks that exchange
 * @param buffer      the blocks of this rank: block j begins `j * count` extents of `type` after it, and changes places
 *                    with block i of rank j. May be NULL if all blocks are empty.
 * @param count       elements of each block, at least 0
 * @param type        datatype of the elements, committed. It may have any shape, and another on each rank: blocks are
 *                    paired in the order in which MPI would pack them, byte by byte; gaps are neither read nor written.
 * @param[out] report is filled, or NULL. Its figures: `exchanged` (bytes of this rank that were exchanged with other
 *                    ranks), `staging` (bytes that the call used), `pairs_swapped`, `pairs_staged`, `pairs_small`,
 *                    `pairs_lost` (peers, by the way in which they were reached: sluice::AlltoallReport).
 * @return SLUICE_SUCCESS; SLUICE_INVALID_ARGUMENT on both ranks of a pair whose blocks differ in bytes, with the other
 *         pairs exchanged and their blocks left as they were, or on this rank alone for a wrong argument; or another
 *         code. */
SLUICE_API int sluice_alltoall_in_place(sluice_context* context, void* buffer, int64_t count, MPI_Datatype type,
                                        sluice_report* report);

/** The same with a count and a displacement for each rank. A pair whose blocks are empty on both sides costs nothing.
 * As in MPI, if only one of the two is empty, the other rank waits for ever.
 * @param context       the ranks that exchange
 * @param buffer        what displacements count from
 * @param counts        elements of each block, one number for each rank of the context, each at least 0
 * @param displacements beginning of each block, in extents of `type`, one for each rank
 * @param type          datatype of the elements
 * @param[out] report   is filled as by sluice_alltoall_in_place(), or NULL
 * @return As sluice_alltoall_in_place(). */
SLUICE_API int sluice_alltoallv_in_place(sluice_context* context, void* buffer, int64_t const* counts,
                                         int64_t const* displacements, MPI_Datatype type, sluice_report* report);

/** The same with a datatype for each rank.
 * @param context       the ranks that exchange
 * @param buffer        what displacements count from
 * @param counts        elements of each block, one number for each rank of the context, each at least 0
 * @param displacements beginning of each block, in bytes, one for each rank
 * @param types         datatype of each block, one for each rank
 * @param[out] report   is filled as by sluice_alltoall_in_place(), or NULL
 * @return As sluice_alltoall_in_place(). */
SLUICE_API int sluice_alltoallw_in_place(sluice_context* context, void* buffer, int64_t const* counts,
                                         int64_t const* displacements, MPI_Datatype const* types,
                                         sluice_report* report);

#ifdef __cplusplus
}
#endif

#endif
