/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Redistribution in place for C, where a program knows only the rank that each block goes to: the library chooses the
 * slots. sluice/rank_plan.hpp says the same for C++, sluice.h tells the rules of the whole C interface. */
#ifndef SLUICE_C_RANK_PLAN_H
#define SLUICE_C_RANK_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "sluice/c/context.h"
#include "sluice/c/redistribute.h"
#include "sluice/c/report.h"
#include "sluice/export.h"
#ifdef __cplusplus
extern "C" {
#endif

/** How the blocks of a rank lie afterwards. */
typedef enum sluice_block_order {
    SLUICE_BLOCKS_ANY = 0,      /**< blocks that stay keep their slots as far as possible: the fewest are moved */
    SLUICE_BLOCKS_BY_SOURCE = 1 /**< as in the whole array before: by the rank that they come from, in their order */
} sluice_block_order;

/** The slots of blocks of which only the ranks are known, for several arrays or many calls. */
typedef struct sluice_rank_plan sluice_rank_plan;

/** Makes a plan. Collective over the context. `ranks` may be freed afterwards.
 *
 *     sluice_rank_plan_create(context, count, ranks, room, SLUICE_BLOCKS_ANY, NULL, &plan);
 *     // the array has sluice_rank_plan_slots(plan) blocks from here on
 *     sluice_rank_plan_apply(plan, 1, &array, NULL);
 *     count = sluice_rank_plan_count_after(plan);
 *
 * @param context   the ranks that hold the arrays; it must outlive the plan
 * @param count     number of blocks of this rank
 * @param ranks     `count` ranks: block i goes to rank `ranks[i]`; a negative rank drops the block. May be NULL if
 *                  `count` is 0.
 * @param room      most blocks that this rank can hold; more are an error on all ranks. UINT64_MAX: any number
 * @param order     equal on all ranks
 * @param options   overrides of `strategy` and `staging`, equal on all ranks, or NULL
 * @param[out] plan receives the handle; the caller frees it with sluice_rank_plan_free(); NULL after a failure
 * @return SLUICE_SUCCESS, or the same other code on every rank. */
SLUICE_API int sluice_rank_plan_create(sluice_context* context, uint64_t count, int const* ranks, uint64_t room,
                                       sluice_block_order order, sluice_options const* options,
                                       sluice_rank_plan** plan);

/** Tells how many blocks this rank has afterwards. They are in the slots from 0 on.
 * @param plan a plan
 * @return their number; 0 for NULL */
SLUICE_API uint64_t sluice_rank_plan_count_after(sluice_rank_plan const* plan);

/** Tells how many slots an array needs for the move: the larger of the numbers before and afterwards.
 * @param plan a plan
 * @return their number; 0 for NULL */
SLUICE_API uint64_t sluice_rank_plan_slots(sluice_rank_plan const* plan);

/** Moves the blocks of each of the arrays, array after array. Collective over the context.
 * @param plan        what sluice_rank_plan_create() made
 * @param arrays      number of arrays, equal on all ranks
 * @param blocks      the arrays; the `count` of each must be sluice_rank_plan_slots()
 * @param[out] report is filled as by sluice_redistribute(), with the sum over the arrays, or NULL
 * @return SLUICE_SUCCESS, or the same other code on every rank, as sluice_plan_apply(). */
SLUICE_API int sluice_rank_plan_apply(sluice_rank_plan* plan, size_t arrays, sluice_blocks const* blocks,
                                      sluice_report* report);

/** Frees a plan. Its context must still exist.
 * @param[in,out] plan address of the handle, which becomes NULL
 * @return SLUICE_SUCCESS, or SLUICE_INVALID_ARGUMENT if `plan` is NULL. */
SLUICE_API int sluice_rank_plan_free(sluice_rank_plan** plan);

#ifdef __cplusplus
}
#endif

#endif
