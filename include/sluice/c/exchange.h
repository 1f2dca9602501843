/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * A streamed all-to-all for C: each rank sends parts of any size to any ranks, and gets each part that comes in a
 * callback, one after the other. sluice/exchange.hpp says the same for C++, sluice.h tells the rules of the whole C
 * interface. */
#ifndef SLUICE_C_EXCHANGE_H
#define SLUICE_C_EXCHANGE_H

#include <stddef.h>
#include <stdint.h>

#include "sluice/c/context.h"
#include "sluice/c/report.h"
#include "sluice/export.h"
#ifdef __cplusplus
extern "C" {
#endif

/** A part for one rank. */
typedef struct sluice_outgoing_part {
    int rank;         /**< the receiver; may be this rank */
    uint64_t bytes;   /**< the size; empty parts are left out */
    void const* data; /**< the bytes, which stay unchanged during the call; NULL: they are produced when the receiver
                         has memory for them */
} sluice_outgoing_part;

/** Writes a part that has no data. Must not throw and must return (no longjmp).
 * @param user     what the call was given
 * @param part     number of the part in the list
 * @param[out] out receives its bytes, all of them
 * @param bytes    the size of the part
 * @return 0, or another number if the part cannot be produced: the exchange then fails on all ranks, after all other
 *         parts have been taken */
typedef int (*sluice_produce_function)(void* user, size_t part, void* out, uint64_t bytes);

/** Gets a part that has come, which is freed when it returns. Must not throw and must return (no longjmp).
 * @param user  what the call was given
 * @param from  the rank that sent it
 * @param data  its bytes
 * @param bytes their number */
typedef void (*sluice_take_function)(void* user, int from, void const* data, uint64_t bytes);

/** Sends the parts of this rank and gives those that come to `take`, in any order. Collective over the context; returns
 * when every rank has all of its parts. sluice/exchange.hpp tells the memory that is needed.
 * @param context     the ranks that exchange
 * @param parts       number of parts that this rank sends
 * @param outgoing    the parts; may be NULL if there are none
 * @param produce     writes parts that have no data; may be NULL if all have
 * @param take        is called for each part that has come, on the calling thread
 * @param user        is handed to both
 * @param[out] report is filled, or NULL. Its figures are those of sluice::ExchangeReport: `parts_sent`,
 *                    `parts_received`, in bytes `sent`, `received`, `kept` and `peak`; `most_on_their_way`, `beyond`.
 * @return SLUICE_SUCCESS, or the same other code on every rank. */
SLUICE_API int sluice_exchange(sluice_context* context, size_t parts, sluice_outgoing_part const* outgoing,
                               sluice_produce_function produce, sluice_take_function take, void* user,
                               sluice_report* report);

/** An exchange that is made once and done many times. */
typedef struct sluice_exchange_plan sluice_exchange_plan;

/** Makes a plan for parts that may change from call to call. Collective over the context.
 * @param context   the ranks that exchange
 * @param[out] plan receives the handle; the caller frees it with sluice_exchange_plan_free(); NULL after a failure
 * @return SLUICE_SUCCESS, or the same other code on every rank. */
SLUICE_API int sluice_exchange_plan_create(sluice_context* context, sluice_exchange_plan** plan);

/** Makes a plan for parts whose receivers and sizes stay the same. Collective over the context.
 * @param context   the ranks that exchange
 * @param parts     number of parts that this rank sends in each call
 * @param outgoing  their receivers and sizes; `data` is not used; may be NULL if there are none
 * @param[out] plan receives the handle; the caller frees it with sluice_exchange_plan_free(); NULL after a failure
 * @return SLUICE_SUCCESS, or the same other code on every rank. */
SLUICE_API int sluice_exchange_plan_create_for(sluice_context* context, size_t parts,
                                               sluice_outgoing_part const* outgoing, sluice_exchange_plan** plan);

/** Exchanges, as sluice_exchange(). Collective over the ranks of the plan, which can be used again after an error.
 * @param plan        the plan
 * @param parts       as for sluice_exchange()
 * @param outgoing    as for sluice_exchange()
 * @param produce     as for sluice_exchange()
 * @param take        as for sluice_exchange()
 * @param user        is handed to both
 * @param[out] report as for sluice_exchange()
 * @return SLUICE_SUCCESS, or the same other code on every rank. A handle that is not a plan, and a call from inside
 *         `produce` or `take`, give SLUICE_INVALID_ARGUMENT on the calling rank alone. */
SLUICE_API int sluice_exchange_plan_apply(sluice_exchange_plan* plan, size_t parts,
                                          sluice_outgoing_part const* outgoing, sluice_produce_function produce,
                                          sluice_take_function take, void* user, sluice_report* report);

/** Frees a plan. Collective over its ranks.
 * @param[in,out] plan the handle, which becomes NULL
 * @return SLUICE_SUCCESS or another code. */
SLUICE_API int sluice_exchange_plan_free(sluice_exchange_plan** plan);

#ifdef __cplusplus
}
#endif

#endif
