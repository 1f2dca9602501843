/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Budgets for C: how many bytes communication may use now. A budget hands out leases; a lease is the right to hold
 * bytes, and gives them back when it is freed. A program that keeps its own communication buffers under the budget of
 * the library shares one limit with it. sluice/budget.hpp says the same for C++, sluice.h tells the rules of the whole
 * C interface.
 *
 * No call waits: sluice_budget_try_lease() answers at once, sluice_budget_when_free() calls back, and while nothing is
 * held a lease of up to 64 KiB always succeeds. All threads may use budgets and leases; one lease belongs to one thread
 * at once. */
#ifndef SLUICE_C_BUDGET_H
#define SLUICE_C_BUDGET_H

#include <stdint.h>

#include "sluice/c/context.h"
#include "sluice/c/report.h"
#include "sluice/export.h"
#ifdef __cplusplus
extern "C" {
#endif

/** A handle of a budget. Several handles may be of the same budget; it lives as long as one of them, or a lease. */
typedef struct sluice_budget sluice_budget;

/** The right to hold bytes. It may outlive the handle of its budget, and the context. */
typedef struct sluice_lease sluice_lease;

/** The use of a lease's bytes; reports sum by purpose. A later version may add purposes. */
enum sluice_purpose {
    SLUICE_PURPOSE_STAGING = 0,
    SLUICE_PURPOSE_BOOKKEEPING = 1,
    SLUICE_PURPOSE_RING = 2,
    SLUICE_PURPOSE_FETCHED = 3,
    SLUICE_PURPOSE_SERVED = 4,
    SLUICE_PURPOSE_PAGED = 5,
    SLUICE_PURPOSE_OTHER = 6,     /**< what a program leases for itself */
    SLUICE_PURPOSE_REGISTERED = 7 /**< memory of the program that is pinned for network adapters */
};

/** Makes a handle of the budget of this process, which all its contexts share and the library keeps to. Its limit
 * follows the free memory of the machine. Not collective.
 * @param context     a context
 * @param[out] budget receives the handle; the caller frees it with sluice_budget_free(); NULL after a failure
 * @return SLUICE_SUCCESS, SLUICE_INVALID_ARGUMENT for a NULL, or SLUICE_OUT_OF_MEMORY. */
SLUICE_API int sluice_context_budget(sluice_context* context, sluice_budget** budget);

/** Makes a budget of the program's own. It needs neither MPI nor a context.
 * @param limit       bytes that its leases may hold together
 * @param[out] budget receives the handle; the caller frees it with sluice_budget_free(); NULL after a failure
 * @return SLUICE_SUCCESS, SLUICE_INVALID_ARGUMENT for a NULL, or SLUICE_OUT_OF_MEMORY. */
SLUICE_API int sluice_budget_create(uint64_t limit, sluice_budget** budget);

/** Frees a handle of a budget. Leases and callbacks of the budget remain.
 * @param[in,out] budget address of the handle, which becomes NULL
 * @return SLUICE_SUCCESS, or SLUICE_INVALID_ARGUMENT if `budget` is NULL. */
SLUICE_API int sluice_budget_free(sluice_budget** budget);

/** Takes a lease if it fits now.
 * @param budget     a budget
 * @param bytes      size of the lease
 * @param purpose    one of ::sluice_purpose
 * @param[out] lease receives the lease, which the caller frees with sluice_lease_free(); NULL if it does not fit now
 *                   (that is no error), and after a failure
 * @return SLUICE_SUCCESS, SLUICE_INVALID_ARGUMENT for a NULL or an unknown purpose, or SLUICE_OUT_OF_MEMORY. */
SLUICE_API int sluice_budget_try_lease(sluice_budget* budget, uint64_t bytes, int purpose, sluice_lease** lease);

/** Takes a lease whatever the limit, for a request that must be granted so that the program makes progress. Other
 * requests wait until the bytes held are below the limit again.
 * @param budget     a budget
 * @param bytes      size of the lease
 * @param purpose    one of ::sluice_purpose
 * @param[out] lease receives the lease, which the caller frees with sluice_lease_free(); NULL after a failure
 * @return As sluice_budget_try_lease(). */
SLUICE_API int sluice_budget_lease_beyond(sluice_budget* budget, uint64_t bytes, int purpose, sluice_lease** lease);

/** Is given a lease.
 * @param user  what the call was given
 * @param lease the lease, which belongs to the callback now and must be freed with sluice_lease_free() */
typedef void (*sluice_lease_function)(void* user, sluice_lease* lease);

/** Asks for a lease as soon as it fits: inside this call, or later on the thread that gives bytes back. Requests are
 * served in order. The callback may use the budget; it must return (no longjmp), must not throw and must not wait for
 * another one.
 * @param budget  a budget
 * @param bytes   size of the lease
 * @param purpose one of ::sluice_purpose
 * @param go      is called once, with the lease
 * @param user    is handed to `go`
 * @return SLUICE_SUCCESS, SLUICE_INVALID_ARGUMENT for a NULL or an unknown purpose, or SLUICE_OUT_OF_MEMORY if a lease
 *         of that size can never fit or an allocation failed; `go` is not called then. */
SLUICE_API int sluice_budget_when_free(sluice_budget* budget, uint64_t bytes, int purpose, sluice_lease_function go,
                                       void* user);

/** Changes the limit of a budget. If more is held, no lease is taken away; if more fits now, waiting requests are
 * served inside this call. The limit of the process's budget follows the free memory, so the library changes it again;
 * the setting `memory` limits it for good.
 * @param budget a budget
 * @param limit  bytes
 * @return SLUICE_SUCCESS, or SLUICE_INVALID_ARGUMENT if `budget` is NULL. */
SLUICE_API int sluice_budget_set_limit(sluice_budget* budget, uint64_t limit);

/** Starts a new peak at the bytes held now.
 * @param budget a budget
 * @return SLUICE_SUCCESS, or SLUICE_INVALID_ARGUMENT if `budget` is NULL. */
SLUICE_API int sluice_budget_reset_peak(sluice_budget* budget);

/** Counts memory that the program has allocated for its leases, or keeps for them, so that reports of memory show it as
 * communication's.
 * @param budget a budget
 * @param bytes  what was allocated
 * @return SLUICE_SUCCESS, or SLUICE_INVALID_ARGUMENT if `budget` is NULL. */
SLUICE_API int sluice_budget_add_resident(sluice_budget* budget, uint64_t bytes);

/** Takes memory out of that count, before it goes back to the kernel.
 * @param budget a budget
 * @param bytes  what will be freed, at most what was counted
 * @return SLUICE_SUCCESS, or SLUICE_INVALID_ARGUMENT if `budget` is NULL. */
SLUICE_API int sluice_budget_remove_resident(sluice_budget* budget, uint64_t bytes);

/** Reads the figures of a budget.
 * @param budget      a budget
 * @param[out] report is filled: `limit`, `held` (now), `peak` (most bytes held at once), `resident` (what
 *                    sluice_budget_add_resident() and the library counted), `spare` (bytes that may be held without
 *                    asking the other processes of the node), and `held.staging`, `held.other`, … for each purpose, all
 *                    in bytes
 * @return SLUICE_SUCCESS, SLUICE_INVALID_ARGUMENT for a NULL, or SLUICE_OUT_OF_MEMORY. */
SLUICE_API int sluice_budget_report(sluice_budget const* budget, sluice_report* report);

/** Tells the size of a lease.
 * @param lease a lease
 * @return bytes; 0 for NULL */
SLUICE_API uint64_t sluice_lease_bytes(sluice_lease const* lease);

/** Splits a part off a lease.
 * @param lease     a lease, which keeps the rest
 * @param bytes     size of the part; all bytes of `lease` if it has fewer
 * @param[out] part receives the part, a lease of its own, which the caller frees; NULL after a failure
 * @return SLUICE_SUCCESS, SLUICE_INVALID_ARGUMENT for a NULL, or SLUICE_OUT_OF_MEMORY. */
SLUICE_API int sluice_lease_split(sluice_lease* lease, uint64_t bytes, sluice_lease** part);

/** Gives the bytes of a lease back. Requests that wait may be served inside this call.
 * @param[in,out] lease address of the handle, which becomes NULL
 * @return SLUICE_SUCCESS, or SLUICE_INVALID_ARGUMENT if `lease` is NULL. */
SLUICE_API int sluice_lease_free(sluice_lease** lease);

/** Finds the memory that this process may use: the least of `setting`, the limits up the chain of control groups,
 * RLIMIT_DATA, RLIMIT_AS, and the free memory in addition to what the process has. It needs neither MPI nor a context.
 * @param setting     a limit in bytes that the program sets itself; 0 for none
 * @param[out] report is filled: `limit` and `used` (bytes), `source` (a text: "setting", "MemAvailable", …)
 * @return SLUICE_SUCCESS, SLUICE_INVALID_ARGUMENT for a NULL, or another code. */
SLUICE_API int sluice_detect_memory_limit(uint64_t setting, sluice_report* report);

#ifdef __cplusplus
}
#endif

#endif
