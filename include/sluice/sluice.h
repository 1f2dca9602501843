/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The C interface of Sluice (C99): all of its headers. Each of them may be included alone.
 *
 * | header | what it offers | in C++ |
 * | --- | --- | --- |
 * | sluice/c/context.h | error codes, options, settings, contexts | sluice/context.hpp, sluice/settings.hpp |
 * | sluice/c/report.h | reports: named figures | the structs of reports |
 * | sluice/c/redistribute.h | redistribution in place, plans | sluice/redistribute.hpp |
 * | sluice/c/rank_plan.h | redistribution by rank alone | sluice/rank_plan.hpp |
 * | sluice/c/packed_plan.h | the same for blocks of different sizes | sluice/packed_plan.hpp |
 * | sluice/c/array.h | arrays in memory that the ranks of a node share | sluice/allocate.hpp |
 * | sluice/c/collectives.h | all-to-all exchanges in place | sluice/collectives.hpp |
 * | sluice/c/transpose.h | transposes of distributed 3-D arrays | sluice/transpose.hpp |
 * | sluice/c/exchange.h | streamed all-to-all exchanges | sluice/exchange.hpp |
 * | sluice/c/fetch.h | publish and fetch, send and receive | sluice/fetch.hpp |
 * | sluice/c/paged.h | data larger than memory | sluice/paged.hpp |
 * | sluice/c/budget.h | budgets, leases, limits of memory | sluice/budget.hpp |
 * | sluice/version.h | versions | the same |
 *
 * The C name of a C++ class or function is its name in lower case, after `sluice_`:
 * sluice::Store::publish() is sluice_store_publish(). sluice/tasks.hpp has no C form, because tasks are
 * coroutines, which C lacks; callbacks take their place.
 *
 * **Errors.** Every function that can fail returns a code, SLUICE_SUCCESS or another of ::sluice_error_code;
 * sluice_last_error() then says what is wrong and gives the numbers. No exception passes. Functions that only look
 * something up return it; for a null handle they return 0, NULL or "".
 *
 * **Collective functions** must be called by all ranks of the context. Bad input then gives the same code on every
 * rank, and nothing is changed. A null handle (context, plan, store) is the exception: the rank that passes it gets
 * SLUICE_INVALID_ARGUMENT alone, because it has no communicator on which it could tell the other ranks.
 *
 * **Objects** are opaque. They are made by a function `_create` and freed by a function `_free`, which takes the
 * address of the handle and sets the handle to NULL; a handle that is NULL already is accepted. What was made with a
 * context keeps what it needs of it, so the order does not matter; everything must be freed before MPI_Finalize. A copy
 * of a handle that was freed, and a handle of another kind of object, give SLUICE_INVALID_ARGUMENT; functions that only
 * look something up return what they return for NULL.
 *
 * **Threads.** One thread at once may use a context and what was made on it, and a second one gets an error; budgets
 * and leases may be used by all threads. sluice_last_error() is kept for each thread. */
#ifndef SLUICE_SLUICE_H
#define SLUICE_SLUICE_H

#include "sluice/c/alltoall.h"
#include "sluice/c/array.h"
#include "sluice/c/budget.h"
#include "sluice/c/collectives.h"
#include "sluice/c/context.h"
#include "sluice/c/exchange.h"
#include "sluice/c/fetch.h"
#include "sluice/c/packed_plan.h"
#include "sluice/c/paged.h"
#include "sluice/c/rank_plan.h"
#include "sluice/c/redistribute.h"
#include "sluice/c/report.h"
#include "sluice/c/transpose.h"
#include "sluice/version.h"

#endif
