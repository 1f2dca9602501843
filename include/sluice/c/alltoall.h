/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * All-to-all exchanges from one buffer into another for C, by the algorithm that is fastest for them. They do what
 * MPI_Alltoall and MPI_Alltoallv do, with 64-bit counts. sluice/alltoall.hpp says the same for C++, and tells the
 * memory; sluice.h tells the rules of the whole C interface.
 *
 * As in sluice/c/collectives.h, a wrong argument of the two functions without a plan gives SLUICE_INVALID_ARGUMENT on
 * the rank that passes it alone, with nothing sent there. */
#ifndef SLUICE_C_ALLTOALL_H
#define SLUICE_C_ALLTOALL_H

#include <mpi.h>
#include <stdint.h>

#include "sluice/c/context.h"
#include "sluice/c/report.h"
#include "sluice/export.h"
#ifdef __cplusplus
extern "C" {
#endif

/** The blocks of one buffer, for sluice_alltoallv() and its plan. */
typedef struct sluice_alltoall_blocks {
    int64_t const* counts;        /**< elements of each block, one number for each rank, each at least 0 */
    int64_t const* displacements; /**< beginning of each block, in extents of `type`, one for each rank */
    MPI_Datatype type;            /**< datatype of the elements, committed */
} sluice_alltoall_blocks;

/** Sends a block of equal bytes to each rank. Collective over the context.
 * @param context       the ranks that exchange
 * @param from          the blocks that leave, one after the other in the order of ranks; may be NULL if all are empty
 * @param send_count    elements of each block, at least 0
 * @param send_type     datatype of these elements, committed
 * @param to            room for the blocks that come; does not overlap `from`
 * @param receive_count elements of each block that comes
 * @param receive_type  datatype of these elements, committed
 * @param options       overrides of `alltoall` (equal on all ranks) and `alltoall_window`, or NULL
 * @param[out] report   is filled, or NULL. Its figures: `algorithm` (plain, log_step, window or pull); in bytes `sent`,
 *                      `received`, `kept` and `staging`; `messages`, `pulled`, `lost`, `most_under_way`
 *                      (sluice::AlltoallOutcome).
 * @return SLUICE_SUCCESS or another code. */
SLUICE_API int sluice_alltoall(sluice_context* context, void const* from, int64_t send_count, MPI_Datatype send_type,
                               void* to, int64_t receive_count, MPI_Datatype receive_type,
                               sluice_options const* options, sluice_report* report);

/** The same with a count and a displacement for each rank. Both ranks of a pair pass the same number of bytes.
 * @param context     the ranks that exchange
 * @param from        what displacements of `leaving` count from
 * @param leaving     the blocks that leave, one for each rank
 * @param to          what displacements of `coming` count from
 * @param coming      the blocks that come, one from each rank
 * @param options     as for sluice_alltoall()
 * @param[out] report is filled as by sluice_alltoall(), or NULL
 * @return SLUICE_SUCCESS or another code. */
SLUICE_API int sluice_alltoallv(sluice_context* context, void const* from, sluice_alltoall_blocks const* leaving,
                                void* to, sluice_alltoall_blocks const* coming, sluice_options const* options,
                                sluice_report* report);

/** An all-to-all that is checked and agreed on once and done many times. */
typedef struct sluice_alltoall_plan sluice_alltoall_plan;

/** Makes a plan for blocks of equal bytes. Collective over the context.
 * @param context       the ranks that exchange
 * @param send_count    as for sluice_alltoall()
 * @param send_type     as for sluice_alltoall(); may be freed afterwards
 * @param receive_count as for sluice_alltoall()
 * @param receive_type  as for sluice_alltoall(); may be freed afterwards
 * @param options       as for sluice_alltoall(), or NULL
 * @param[out] plan     receives the handle; the caller frees it with sluice_alltoall_plan_free(); NULL after a failure
 * @return SLUICE_SUCCESS, or the same other code on every rank. */
SLUICE_API int sluice_alltoall_plan_create(sluice_context* context, int64_t send_count, MPI_Datatype send_type,
                                           int64_t receive_count, MPI_Datatype receive_type,
                                           sluice_options const* options, sluice_alltoall_plan** plan);

/** Makes a plan for blocks of different sizes. Collective over the context.
 * @param context   the ranks that exchange
 * @param leaving   as for sluice_alltoallv(); its lists are copied
 * @param coming    as for sluice_alltoallv(); its lists are copied
 * @param options   as for sluice_alltoall(), or NULL
 * @param[out] plan receives the handle; the caller frees it with sluice_alltoall_plan_free(); NULL after a failure
 * @return SLUICE_SUCCESS, or the same other code on every rank: also if a rank expects another number of bytes than its
 *         peer sends. */
SLUICE_API int sluice_alltoallv_plan_create(sluice_context* context, sluice_alltoall_blocks const* leaving,
                                            sluice_alltoall_blocks const* coming, sluice_options const* options,
                                            sluice_alltoall_plan** plan);

/** Exchanges by a plan. Collective over the context of the plan.
 * @param plan        what sluice_alltoall_plan_create() or sluice_alltoallv_plan_create() made
 * @param from        as for sluice_alltoall() or sluice_alltoallv()
 * @param to          as for sluice_alltoall() or sluice_alltoallv()
 * @param[out] report is filled as by sluice_alltoall(), or NULL
 * @return SLUICE_SUCCESS or another code. */
SLUICE_API int sluice_alltoall_plan_apply(sluice_alltoall_plan* plan, void const* from, void* to,
                                          sluice_report* report);

/** Frees a plan.
 * @param[in,out] plan address of the handle, which becomes NULL
 * @return SLUICE_SUCCESS, or SLUICE_INVALID_ARGUMENT if `plan` is NULL. */
SLUICE_API int sluice_alltoall_plan_free(sluice_alltoall_plan** plan);

#ifdef __cplusplus
}
#endif

#endif
