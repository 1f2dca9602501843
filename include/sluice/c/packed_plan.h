/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Redistribution in place for C of blocks of different sizes that lie packed behind one another, by rank.
 * sluice/packed_plan.hpp says the same for C++, sluice.h tells the rules of the whole C interface. */
#ifndef SLUICE_C_PACKED_PLAN_H
#define SLUICE_C_PACKED_PLAN_H

#include <stdint.h>

#include "sluice/c/context.h"
#include "sluice/c/report.h"
#include "sluice/export.h"
#ifdef __cplusplus
extern "C" {
#endif

/** Where blocks of different sizes go, for one array or several that are divided alike. */
typedef struct sluice_packed_plan sluice_packed_plan;

/** Makes a plan. Collective over the context. `sizes` and `ranks` may be freed afterwards. Afterwards the blocks of a
 * rank lie packed again, by the rank that they come from, and there in their order.
 *
 *     sluice_packed_plan_create(context, count, sizes, ranks, sizeof(double), NULL, &plan);
 *     // data has sluice_packed_plan_elements(plan) elements from here on, sizes sluice_packed_plan_blocks_after(plan)
 *     sluice_packed_plan_apply(plan, data, data_bytes, sizes, most_blocks, NULL);
 *     count = sluice_packed_plan_blocks_after(plan);
 *
 * @param context       the ranks that hold the arrays; it must outlive the plan
 * @param count         number of blocks of this rank
 * @param sizes         `count` numbers: the elements of each block, from 0 on. May be NULL if `count` is 0.
 * @param ranks         `count` ranks: block i goes to rank `ranks[i]`; a negative rank drops the block. May be NULL if
 *                      `count` is 0.
 * @param element_bytes bytes of an element, equal on all ranks, at least 1
 * @param options       overrides of `strategy` and `staging`, equal on all ranks, or NULL
 * @param[out] plan     receives the handle; the caller frees it with sluice_packed_plan_free(); NULL after a failure
 * @return SLUICE_SUCCESS, or the same other code on every rank. */
SLUICE_API int sluice_packed_plan_create(sluice_context* context, uint64_t count, uint64_t const* sizes,
                                         int const* ranks, uint64_t element_bytes, sluice_options const* options,
                                         sluice_packed_plan** plan);

/** Tells how many blocks this rank has afterwards.
 * @param plan a plan
 * @return their number; 0 for NULL */
SLUICE_API uint64_t sluice_packed_plan_blocks_after(sluice_packed_plan const* plan);

/** Tells how many elements all blocks of this rank have afterwards.
 * @param plan a plan
 * @return their number; 0 for NULL */
SLUICE_API uint64_t sluice_packed_plan_elements_after(sluice_packed_plan const* plan);

/** Tells how many elements an array needs for the move: the larger of the numbers before and afterwards.
 * @param plan a plan
 * @return their number; 0 for NULL */
SLUICE_API uint64_t sluice_packed_plan_elements(sluice_packed_plan const* plan);

/** Moves the blocks of an array. Collective over the context. sluice/packed_plan.hpp tells the memory that is needed in
 * addition. May be called for several arrays, one after the other.
 * @param plan        what sluice_packed_plan_create() made
 * @param data        at least sluice_packed_plan_elements() elements; the bytes behind the blocks are unspecified
 *                    afterwards. May be NULL if that is 0.
 * @param data_bytes  bytes of the memory at `data`
 * @param[out] sizes  receives the sizes of the blocks afterwards, in elements; it may be the list that the plan was
 *                    made from. May be NULL if `most_blocks` is 0.
 * @param most_blocks numbers that `sizes` has room for, at least sluice_packed_plan_blocks_after()
 * @param[out] report is filled as by sluice_redistribute(), or NULL
 * @return SLUICE_SUCCESS, or the same other code on every rank; nothing has changed then. */
SLUICE_API int sluice_packed_plan_apply(sluice_packed_plan* plan, void* data, uint64_t data_bytes, uint64_t* sizes,
                                        uint64_t most_blocks, sluice_report* report);

/** Frees a plan. Its context must still exist.
 * @param[in,out] plan address of the handle, which becomes NULL
 * @return SLUICE_SUCCESS, or SLUICE_INVALID_ARGUMENT if `plan` is NULL. */
SLUICE_API int sluice_packed_plan_free(sluice_packed_plan** plan);

#ifdef __cplusplus
}
#endif

#endif
