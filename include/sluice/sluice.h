/* The C interface of Sluice (C99). What the functions do is told in <sluice/redistribute.hpp>; here is how C sees it.
 *
 * Every function that can fail returns a code; sluice_last_error() tells the rest. Calls marked collective must be made
 * by all ranks of the context; bad input then gives the same code on every rank and nothing is changed. Only a null
 * handle (context, plan) is found by the rank alone, for it has nobody to tell.
 *
 * Objects are made by _create and ended by _free, which takes the address of the handle and sets it to NULL; a handle
 * that is NULL already is fine. Contexts and plans must end before MPI_Finalize, plans before their context. */
#ifndef SLUICE_SLUICE_H
#define SLUICE_SLUICE_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- errors --------------------------------------------------------------------------------------------------------
 */

enum {
    SLUICE_SUCCESS = 0,
    SLUICE_INVALID_ARGUMENT = 1, /* the caller's input; nothing was changed */
    SLUICE_OUT_OF_MEMORY = 2,    /* an allocation or a lease failed before anything was changed */
    SLUICE_MPI_ERROR = 3,        /* an MPI call returned an error code */
    SLUICE_UNSUPPORTED = 4,      /* this build or this machine cannot do what was asked */
    SLUICE_INTERNAL = 5          /* a defect of the library */
};

/* What the last failed call of this thread had to say, numbers included; "" before the first. Valid until the thread's
 * next failing call. Never NULL. */
char const* sluice_last_error(void);

/* --- options -------------------------------------------------------------------------------------------------------
 */

/* Settings by name and text, as the command line and the environment give them: ("staging", "64MiB"). Everywhere an
 * options pointer may be NULL: then nothing is overridden. Can be freed as soon as the call that got it has returned.
 */
typedef struct sluice_options sluice_options;

int sluice_options_create(sluice_options** options);
/* SLUICE_INVALID_ARGUMENT for an unknown name or a value out of range. */
int sluice_options_set(sluice_options* options, char const* name, char const* value);
int sluice_options_free(sluice_options** options);

/* --- context -------------------------------------------------------------------------------------------------------
 */

/* The library on one communicator. Its traffic runs on a private communicator. */
typedef struct sluice_context sluice_context;

/* Collective over comm. Settings come from the defaults, then the environment (SLUICE_*), then options. */
int sluice_context_create(MPI_Comm comm, sluice_options const* options, sluice_context** context);
/* Collective. */
int sluice_context_free(sluice_context** context);

/* --- report --------------------------------------------------------------------------------------------------------
 */

/* What one redistribution did on this rank. A report may be filled again and again; pass NULL where it does not matter.
 */
typedef struct sluice_report sluice_report;

int sluice_report_create(sluice_report** report);
int sluice_report_free(sluice_report** report);

double sluice_report_seconds(sluice_report const* report);
uint64_t sluice_report_blocks_sent(sluice_report const* report);     /* left for another rank */
uint64_t sluice_report_blocks_received(sluice_report const* report); /* came from another rank */
uint64_t sluice_report_blocks_local(sluice_report const* report); /* copied inside this rank, double copies included */
uint64_t sluice_report_bytes_sent(sluice_report const* report);
uint64_t sluice_report_bytes_received(sluice_report const* report);
uint64_t sluice_report_bytes_local(sluice_report const* report);
uint64_t sluice_report_rounds(sluice_report const* report);        /* phases, actions or passes, by strategy */
uint64_t sluice_report_requests_peak(sluice_report const* report); /* most MPI requests open at a time */
uint64_t sluice_report_extra_peak(sluice_report const* report);    /* most bytes held beside the caller's arrays */
/* Texts live until the report is filled again or freed. */
char const* sluice_report_strategy(sluice_report const* report);
char const* sluice_report_why(sluice_report const* report);
char const* sluice_report_text(sluice_report const* report); /* a few lines for people */
/* Steps in order: which = 0, 1, …; the name is NULL and the seconds are 0 past the last. */
size_t sluice_report_steps(sluice_report const* report);
char const* sluice_report_step_name(sluice_report const* report, size_t which);
double sluice_report_step_seconds(sluice_report const* report, size_t which);

/* --- redistribution ------------------------------------------------------------------------------------------------
 */

/* Collective. Moves block i of data (count blocks of block_bytes bytes) to slot indices[i] of rank ranks[i]; a negative
 * rank marks the block free, and so are the blocks from length on. ranks and indices may be NULL where length is 0,
 * data where count is 0. Of the options, strategy and staging may be overridden here; they must be equal on all ranks.
 */
int sluice_redistribute(sluice_context* context, void* data, uint64_t count, uint64_t block_bytes, uint64_t length,
                        int const* ranks, int64_t const* indices, sluice_options const* options, sluice_report* report);

/* Writes where block `index` goes. Called on the calling thread, at least once for each local block while it is in
 * place; must give the same answer each time, must not call MPI and must return (no longjmp). */
typedef void (*sluice_destination_function)(void* user, uint64_t index, void const* block, int* rank,
                                            int64_t* destination);

/* Collective. The same with a computed map: no list of destinations is needed. */
int sluice_redistribute_computed(sluice_context* context, void* data, uint64_t count, uint64_t block_bytes,
                                 sluice_destination_function destination, void* user, sluice_options const* options,
                                 sluice_report* report);

/* --- plan ----------------------------------------------------------------------------------------------------------
 */

/* A validated map that is applied to several arrays or many times. */
typedef struct sluice_plan sluice_plan;

typedef struct sluice_blocks {
    void* data;
    uint64_t count;
    uint64_t block_bytes;
} sluice_blocks;

/* Collective. ranks and indices can be freed afterwards. */
int sluice_plan_create(sluice_context* context, uint64_t count, uint64_t length, int const* ranks,
                       int64_t const* indices, sluice_options const* options, sluice_plan** plan);
/* Collective. Moves the blocks of each of the arrays, array after array; the count of each must be the plan's. */
int sluice_plan_apply(sluice_plan* plan, size_t arrays, sluice_blocks const* blocks, sluice_report* report);
/* Bytes the plan holds on this rank; 0 for NULL. */
uint64_t sluice_plan_memory(sluice_plan const* plan);
int sluice_plan_free(sluice_plan** plan);

/* --- publish and fetch ---------------------------------------------------------------------------------------------
 */

/* <sluice/fetch.hpp> with callbacks instead of coroutines; docs/fetch.md explains it. A store belongs to one thread.
 * Callbacks are called on that thread, from sluice_store_progress, _wait, _wait_for, _finish and _free alone; they may
 * call everything but these. They must return (no longjmp). Peers are served in these calls, too: a rank with nothing
 * more to fetch must be in one of them as long as others fetch from it. */
typedef struct sluice_store sluice_store;

/* What data are called everywhere: a rank of the store's context, and two numbers of that rank's choice. */
typedef struct sluice_key {
    int owner;
    uint64_t id;
    uint64_t epoch; /* for example the iteration */
} sluice_key;

#define SLUICE_ANY_BYTES UINT64_MAX /* the owner is asked first */

typedef struct sluice_want {
    sluice_key key;
    uint64_t bytes;
} sluice_want;

/* Data of a complete set, in the order of the wants: valid until they are freed, also after the store. Freeing them
 * gives their tokens back, so that others can be fetched. */
typedef struct sluice_fetched sluice_fetched;

size_t sluice_fetched_count(sluice_fetched const* fetched);
void const* sluice_fetched_data(sluice_fetched const* fetched, size_t which);
uint64_t sluice_fetched_bytes(sluice_fetched const* fetched, size_t which);
int sluice_fetched_free(sluice_fetched** fetched);

/* Writes `bytes` bytes to `out`; 0, or else the reader's fetch (of a send: the call) fails with that number. */
typedef int (*sluice_pack_function)(void* user, void* out, uint64_t bytes);
/* A set is complete: `fetched` belongs to the callback. Or it has failed: `code` is not SLUICE_SUCCESS, `fetched` is
 * NULL and sluice_last_error() names both sides. */
typedef void (*sluice_done_function)(void* user, int code, sluice_fetched* fetched);
typedef void (*sluice_read_function)(void* user);

/* Collective over the ranks of the context, which must live longer. */
int sluice_store_create(sluice_context* context, sluice_store** store);

/* Data that `pack` writes, each time a reader has tokens for them, until so many readers have them. The key must be
 * this rank's. */
int sluice_store_publish(sluice_store* store, sluice_key key, uint64_t bytes, sluice_pack_function pack, void* user,
                         int readers);
/* Data that lie side by side; they are sent from there, and must stay as they are until all readers have them. */
int sluice_store_publish_bytes(sluice_store* store, sluice_key key, void const* data, uint64_t bytes, int readers);
/* `read` is called when all readers have it, or it is withdrawn, or not published (any more). */
int sluice_store_when_read(sluice_store* store, sluice_key key, sluice_read_function read, void* user);
int sluice_store_withdraw(sluice_store* store, sluice_key key);
/* Nothing more will be published or sent for epochs up to this. */
int sluice_store_close(sluice_store* store, uint64_t epoch);

/* One set, posted at once and granted whole; `done` tells its end. Of the result only what can be known at once:
 * SLUICE_INVALID_ARGUMENT for NULLs; then `done` is not called. */
int sluice_store_fetch_all(sluice_store* store, sluice_want const* wants, size_t count, sluice_done_function done,
                           void* user);

/* The send-based scheme: packed at once, received once, by receive_all on the reader. */
int sluice_store_send(sluice_store* store, int reader, sluice_key key, uint64_t bytes, sluice_pack_function pack,
                      void* user);
int sluice_store_send_bytes(sluice_store* store, int reader, sluice_key key, void const* data, uint64_t bytes);
int sluice_store_receive_all(sluice_store* store, sluice_want const* wants, size_t count, sluice_done_function done,
                             void* user);

/* Moves what can be moved, without waiting; `moved` (or NULL): whether something did. */
int sluice_store_progress(sluice_store* store, int* moved);
/* Until all sets of this rank are complete. SLUICE_INVALID_ARGUMENT inside a callback, as for the following. */
int sluice_store_wait(sluice_store* store);
/* Until `*counter`, which callbacks raise, is at least `least`. */
int sluice_store_wait_for(sluice_store* store, uint64_t const* counter, uint64_t least);
/* Collective: until every rank has finished. Afterwards nothing is published or sent any more. */
int sluice_store_finish(sluice_store* store);
/* Collective. Finishes. */
int sluice_store_free(sluice_store** store);

/* What a store has done so far on this rank, and what it holds (bytes); sluice::fetch::StoreReport tells more. */
typedef struct sluice_store_report {
    uint64_t sets;
    uint64_t fetched;
    uint64_t fetched_here;
    uint64_t reused;
    uint64_t served;
    uint64_t fetched_bytes;
    uint64_t held;
    uint64_t peak;
    uint64_t beyond;
    uint64_t early;
    uint64_t retried;
    uint64_t sent;
    uint64_t received;
    uint64_t sent_bytes;
    uint64_t received_bytes;
    uint64_t packed_peak;
    uint64_t uncontrolled_peak;
    uint64_t unexpected;
} sluice_store_report;

int sluice_store_get_report(sluice_store* store, sluice_store_report* report);

#ifdef __cplusplus
}
#endif

#endif
