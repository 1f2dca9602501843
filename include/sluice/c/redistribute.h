/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Redistribution in place for C: every block of a distributed array moves to a new place, in the caller's memory.
 * sluice/redistribute.hpp says the same for C++, sluice.h tells the rules of the whole C interface. */
#ifndef SLUICE_C_REDISTRIBUTE_H
#define SLUICE_C_REDISTRIBUTE_H

#include <stddef.h>
#include <stdint.h>

#include "sluice/c/context.h"
#include "sluice/c/report.h"
#include "sluice/export.h"
#ifdef __cplusplus
extern "C" {
#endif

/** Moves every live block of a distributed array to its new place, in the caller's memory. Collective over the context.
 * sluice/redistribute.hpp tells the memory that is needed in addition to the array. If the call fails, no byte has
 * moved.
 * @param context     the ranks that hold the array
 * @param data        the blocks of this rank, contiguous; may be NULL if `count` is 0. Slots to which no block is sent
 *                    hold unspecified bytes afterwards.
 * @param count       number of blocks (slots) of this rank; ranks may differ
 * @param block_bytes bytes of one block, equal on all ranks
 * @param length      number of destinations, at most `count`; the blocks from `length` on are free
 * @param ranks       `length` ranks of the context: block i goes to rank `ranks[i]`; a negative rank marks the block
 *                    free, so that its bytes need not survive. May be NULL if `length` is 0.
 * @param indices     `length` slots: block i becomes block `indices[i]` of that rank; no two blocks may have one
 *                    destination. May be NULL if `length` is 0.
 * @param options     overrides of `strategy` and `staging`, equal on all ranks, or NULL
 * @param[out] report is filled, or NULL. Its figures are those of sluice::RedistributionReport: `blocks_sent`,
 *                    `blocks_received`, `blocks_local`, `rounds`, `requests_peak`, and in bytes `bytes_sent`,
 *                    `bytes_received`, `bytes_local` and `extra_peak`; the texts `strategy` and `why`; in seconds
 *                    `seconds` and `step.` + name of each step, in the order in which they ran; `counter.` + name of
 *                    each counter of the transports. A report for which memory is missing after the blocks have moved
 *                    is empty.
 * @return SLUICE_SUCCESS, or the same other code on every rank. */
SLUICE_API int sluice_redistribute(sluice_context* context, void* data, uint64_t count, uint64_t block_bytes,
                                   uint64_t length, int const* ranks, int64_t const* indices,
                                   sluice_options const* options, sluice_report* report);

/** Computes where a block goes. It is called on the calling thread, at least once for each local block while the block
 * is still in its old place. It must give the same answer each time, must not call MPI, must not throw and must return
 * (no longjmp).
 * @param user             what the call was given
 * @param index            number of the block on this rank
 * @param block            the bytes of the block; NULL for a plan
 * @param[out] rank        receives the rank, or a negative number if the block is free
 * @param[out] destination receives the slot on that rank */
typedef void (*sluice_destination_function)(void* user, uint64_t index, void const* block, int* rank,
                                            int64_t* destination);

/** Moves every live block to the place that a function computes, so that no list of destinations is needed. Collective
 * over the context.
 * @param context     the ranks that hold the array
 * @param data        the blocks of this rank, contiguous; may be NULL if `count` is 0
 * @param count       number of blocks (slots) of this rank; ranks may differ
 * @param block_bytes bytes of one block, equal on all ranks
 * @param destination computes where a block goes
 * @param user        is handed to `destination`
 * @param options     overrides of `strategy` and `staging`, equal on all ranks, or NULL
 * @param[out] report is filled as by sluice_redistribute(), or NULL
 * @return SLUICE_SUCCESS, or the same other code on every rank; no byte has moved then. */
SLUICE_API int sluice_redistribute_computed(sluice_context* context, void* data, uint64_t count, uint64_t block_bytes,
                                            sluice_destination_function destination, void* user,
                                            sluice_options const* options, sluice_report* report);

/** Tells where the block of a slot comes from: the inverse of a sluice_destination_function. It is called on the
 * calling thread, at least once for each local slot. It must give the same answer each time, must not call MPI, must
 * not throw and must return (no longjmp).
 * @param user        what the call was given
 * @param slot        number of the slot on this rank
 * @param[out] rank   receives the rank that the block comes from, or a negative number if none comes
 * @param[out] source receives its slot there */
typedef void (*sluice_inverse_function)(void* user, uint64_t slot, int* rank, int64_t* source);

/** The same as sluice_redistribute_computed() for a map whose inverse is known, too: no address travels. Collective
 * over the context. An inverse that is wrong is an error on every rank; which slot it is wrong for is told if the
 * setting `check` of the context is "data" or "all", with which addresses do travel.
 * @param context     the ranks that hold the array
 * @param data        the blocks of this rank, contiguous; may be NULL if `count` is 0
 * @param count       number of blocks (slots) of this rank; ranks may differ
 * @param block_bytes bytes of one block, equal on all ranks
 * @param destination computes where a block goes
 * @param source      computes where the block of a slot comes from
 * @param user        is handed to both
 * @param options     overrides of `strategy` and `staging`, equal on all ranks, or NULL
 * @param[out] report is filled as by sluice_redistribute(), or NULL
 * @return SLUICE_SUCCESS, or the same other code on every rank; no byte has moved then. */
SLUICE_API int sluice_redistribute_invertible(sluice_context* context, void* data, uint64_t count, uint64_t block_bytes,
                                              sluice_destination_function destination, sluice_inverse_function source,
                                              void* user, sluice_options const* options, sluice_report* report);

/** A validated map that is applied to several arrays or many times. A plan keeps at most 16 bytes for each local block.
 */
typedef struct sluice_plan sluice_plan;

/** One array of blocks. The caller owns the memory. */
typedef struct sluice_blocks {
    void* data;           /**< the blocks of this rank, contiguous; may be NULL if `count` is 0 */
    uint64_t count;       /**< number of blocks (slots) of this rank */
    uint64_t block_bytes; /**< bytes of one block, equal on all ranks */
} sluice_blocks;

/** Makes a plan. Collective over the context. `ranks` and `indices` may be freed afterwards.
 * @param context   the ranks that hold the arrays; it must outlive the plan
 * @param count     number of blocks (slots) of this rank in each array
 * @param length    number of destinations, at most `count`; the blocks from `length` on are free
 * @param ranks     `length` ranks, as for sluice_redistribute()
 * @param indices   `length` slots, as for sluice_redistribute()
 * @param options   overrides of `strategy` and `staging`, equal on all ranks, or NULL
 * @param[out] plan receives the handle; the caller frees it with sluice_plan_free(); NULL after a failure
 * @return SLUICE_SUCCESS, or the same other code on every rank. */
SLUICE_API int sluice_plan_create(sluice_context* context, uint64_t count, uint64_t length, int const* ranks,
                                  int64_t const* indices, sluice_options const* options, sluice_plan** plan);

/** Makes a plan from a function, so that no list of destinations is needed. Collective over the context.
 * @param context     the ranks that hold the arrays; it must outlive the plan
 * @param count       number of blocks (slots) of this rank in each array
 * @param destination computes where a block goes from its number; its `block` is NULL, because a plan belongs to no
 *                    array. It is called during this call only.
 * @param user        is handed to `destination`
 * @param options     overrides of `strategy` and `staging`, equal on all ranks, or NULL
 * @param[out] plan   receives the handle; the caller frees it with sluice_plan_free(); NULL after a failure
 * @return SLUICE_SUCCESS, or the same other code on every rank. */
SLUICE_API int sluice_plan_create_computed(sluice_context* context, uint64_t count,
                                           sluice_destination_function destination, void* user,
                                           sluice_options const* options, sluice_plan** plan);

/** The same as sluice_plan_create_computed() for a map whose inverse is known, too: no address travels, as in
 * sluice_redistribute_invertible(). Collective over the context.
 * @param context     the ranks that hold the arrays; it must outlive the plan
 * @param count       number of blocks (slots) of this rank in each array
 * @param destination computes where a block goes from its number; its `block` is NULL
 * @param source      computes where the block of a slot comes from. Both are called during this call only.
 * @param user        is handed to both
 * @param options     overrides of `strategy` and `staging`, equal on all ranks, or NULL
 * @param[out] plan   receives the handle; the caller frees it with sluice_plan_free(); NULL after a failure
 * @return SLUICE_SUCCESS, or the same other code on every rank. */
SLUICE_API int sluice_plan_create_invertible(sluice_context* context, uint64_t count,
                                             sluice_destination_function destination, sluice_inverse_function source,
                                             void* user, sluice_options const* options, sluice_plan** plan);

/** Moves the blocks of each of the arrays by the map, array after array. Collective over the context.
 * @param plan        what sluice_plan_create() made
 * @param arrays      number of arrays, equal on all ranks
 * @param blocks      the arrays; the `count` of each must be the plan's
 * @param[out] report is filled as by sluice_redistribute(), with the sum over the arrays, or NULL
 * @return SLUICE_SUCCESS, or the same other code on every rank. If the ranks disagree about the `block_bytes` of one
 *         array, the arrays before it have been moved. */
SLUICE_API int sluice_plan_apply(sluice_plan* plan, size_t arrays, sluice_blocks const* blocks, sluice_report* report);

/** Tells how much memory a plan holds on this rank.
 * @param plan a plan
 * @return bytes; 0 for NULL */
SLUICE_API uint64_t sluice_plan_memory(sluice_plan const* plan);

/** Frees a plan. Its context must still exist.
 * @param[in,out] plan address of the handle, which becomes NULL
 * @return SLUICE_SUCCESS, or SLUICE_INVALID_ARGUMENT if `plan` is NULL. */
SLUICE_API int sluice_plan_free(sluice_plan** plan);

#ifdef __cplusplus
}
#endif

#endif
