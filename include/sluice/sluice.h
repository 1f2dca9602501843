/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The C interface of Sluice (C99): redistribution in place, plans, and publish and fetch.
 *
 * Every function that can fail returns a code, SLUICE_SUCCESS or another; sluice_last_error() then says what is wrong
 * and gives the numbers.
 *
 * Functions marked *collective* must be called by all ranks of the context. Bad input then gives the same code on every
 * rank, and nothing is changed. A null handle (context, plan, store) is the exception: the rank that passes it gets
 * SLUICE_INVALID_ARGUMENT alone, because it has no communicator on which it could tell the other ranks.
 *
 * Objects are made by a function `_create` and freed by a function `_free`. `_free` takes the address of the handle and
 * sets the handle to NULL; a handle that is NULL already is accepted. Contexts, plans and stores must be freed before
 * MPI_Finalize, plans and stores before their context.
 *
 * An object belongs to one thread at once. sluice_last_error() is kept for each thread. */
#ifndef SLUICE_SLUICE_H
#define SLUICE_SLUICE_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default) /* as SLUICE_API (sluice/export.h) for each function */
/** @name Errors
 * @{ */

/** The codes that functions return. */
enum {
    SLUICE_SUCCESS = 0,          /**< the call did what it says */
    SLUICE_INVALID_ARGUMENT = 1, /**< the caller's input is wrong; nothing was changed */
    SLUICE_OUT_OF_MEMORY = 2,    /**< an allocation or a lease failed before anything was changed */
    SLUICE_MPI_ERROR = 3,        /**< an MPI call returned an error code */
    SLUICE_UNSUPPORTED = 4,      /**< this build or this machine cannot do what was asked */
    SLUICE_INTERNAL = 5          /**< the library has a defect */
};

/** Explains the last failed call of this thread.
 * @return One text, which gives the ranks and numbers that matter. It is empty before the first failure, never NULL,
 *         and valid until the next failing call of this thread. */
char const* sluice_last_error(void);

/** @}
 * @name Options
 * @{ */

/** Settings by name and text, as the command line and the environment give them: ("staging", "64MiB"). An options
 * pointer may be NULL in every call: then nothing is overridden. Options may be freed as soon as the call that was
 * given them has returned. */
typedef struct sluice_options sluice_options;

/** Makes empty options.
 * @param[out] options receives the handle; the caller frees it with sluice_options_free()
 * @return SLUICE_SUCCESS, SLUICE_INVALID_ARGUMENT if `options` is NULL, or SLUICE_OUT_OF_MEMORY. */
int sluice_options_create(sluice_options** options);

/** Adds one setting; a later value of the same setting wins.
 * @param options what sluice_options_create() made
 * @param name    name of the setting, without `SLUICE_`: "staging"
 * @param value   its value as text: "64MiB", "128", "token". Both texts are copied.
 * @return SLUICE_SUCCESS, or SLUICE_INVALID_ARGUMENT for an unknown name, a value that is out of range or a NULL. */
int sluice_options_set(sluice_options* options, char const* name, char const* value);

/** Frees options.
 * @param[in,out] options address of the handle, which becomes NULL
 * @return SLUICE_SUCCESS, or SLUICE_INVALID_ARGUMENT if `options` is NULL. */
int sluice_options_free(sluice_options** options);

/** @}
 * @name Context
 * @{ */

/** The library on one communicator. The traffic of the library runs on a private communicator. */
typedef struct sluice_context sluice_context;

/** Makes a context. Collective over `comm`. Settings come from the defaults, then from the environment (`SLUICE_*`),
 * then from `options`.
 * @param comm         communicator of the ranks that will call the library together; it may be freed afterwards
 * @param options      settings that this rank overrides, or NULL
 * @param[out] context receives the handle; the caller frees it with sluice_context_free(); NULL after a failure
 * @return SLUICE_SUCCESS, or on every rank the same other code if one rank's settings are wrong, MPI fails or memory is
 *         missing. */
int sluice_context_create(MPI_Comm comm, sluice_options const* options, sluice_context** context);

/** Frees a context. Collective over the ranks of the context.
 * @param[in,out] context address of the handle, which becomes NULL
 * @return SLUICE_SUCCESS, or SLUICE_INVALID_ARGUMENT if `context` is NULL. */
int sluice_context_free(sluice_context** context);

/** @}
 * @name Report
 * What a redistribution did on this rank.
 * @{ */

/** What one redistribution did on this rank. A report may be filled again and again. A function that fills a report
 * accepts NULL if its figures do not matter. */
typedef struct sluice_report sluice_report;

/** Makes an empty report.
 * @param[out] report receives the handle; the caller frees it with sluice_report_free()
 * @return SLUICE_SUCCESS, SLUICE_INVALID_ARGUMENT if `report` is NULL, or SLUICE_OUT_OF_MEMORY. */
int sluice_report_create(sluice_report** report);

/** Frees a report and its texts.
 * @param[in,out] report address of the handle, which becomes NULL
 * @return SLUICE_SUCCESS, or SLUICE_INVALID_ARGUMENT if `report` is NULL. */
int sluice_report_free(sluice_report** report);

/** Tells how long the redistribution took on this rank: the sum of its steps.
 * @param report a filled report
 * @return seconds; 0 for NULL */
double sluice_report_seconds(sluice_report const* report);
/** Counts the blocks that left this rank for another one.
 * @param report a filled report
 * @return blocks; 0 for NULL */
uint64_t sluice_report_blocks_sent(sluice_report const* report);
/** Counts the blocks that came to this rank from another one.
 * @param report a filled report
 * @return blocks; 0 for NULL */
uint64_t sluice_report_blocks_received(sluice_report const* report);
/** Counts the copies of blocks inside this rank; a block that is copied twice counts twice.
 * @param report a filled report
 * @return blocks; 0 for NULL */
uint64_t sluice_report_blocks_local(sluice_report const* report);
/** Counts the bytes of the blocks that left this rank.
 * @param report a filled report
 * @return bytes; 0 for NULL */
uint64_t sluice_report_bytes_sent(sluice_report const* report);
/** Counts the bytes of the blocks that came to this rank.
 * @param report a filled report
 * @return bytes; 0 for NULL */
uint64_t sluice_report_bytes_received(sluice_report const* report);
/** Counts the bytes that were copied inside this rank.
 * @param report a filled report
 * @return bytes; 0 for NULL */
uint64_t sluice_report_bytes_local(sluice_report const* report);
/** Counts the rounds of the strategy: phases (parking), actions (cyclic) or passes over byte ranges (token).
 * @param report a filled report
 * @return rounds; 0 for NULL */
uint64_t sluice_report_rounds(sluice_report const* report);
/** Tells the largest number of MPI requests that were open at once.
 * @param report a filled report
 * @return requests; 0 for NULL */
uint64_t sluice_report_requests_peak(sluice_report const* report);
/** Tells the largest number of bytes that were held in addition to the caller's arrays.
 * @param report a filled report
 * @return bytes; 0 for NULL */
uint64_t sluice_report_extra_peak(sluice_report const* report);
/** Names the strategy that moved the blocks.
 * @param report a filled report
 * @return its name, which lives until the report is filled again or freed; "" for NULL */
char const* sluice_report_strategy(sluice_report const* report);
/** Gives the reason for this strategy and these transports.
 * @param report a filled report
 * @return a text, which lives until the report is filled again or freed; "" for NULL */
char const* sluice_report_why(sluice_report const* report);
/** Tells the report in a few lines that people can read.
 * @param report a filled report
 * @return a text, which lives until the report is filled again or freed; "" for NULL */
char const* sluice_report_text(sluice_report const* report);
/** Counts the steps whose times were taken.
 * @param report a filled report
 * @return steps; 0 for NULL */
size_t sluice_report_steps(sluice_report const* report);
/** Names one step.
 * @param report a filled report
 * @param which  0 for the first step; steps are numbered in the order in which they ran
 * @return The name, which lives until the report is filled again or freed; NULL past the last step. */
char const* sluice_report_step_name(sluice_report const* report, size_t which);
/** Tells the time of one step.
 * @param report a filled report
 * @param which  0 for the first step
 * @return The seconds that the step took on this rank; 0 past the last step. */
double sluice_report_step_seconds(sluice_report const* report, size_t which);

/** @}
 * @name Redistribution
 * @{ */

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
 * free, so that its bytes need not survive. May be NULL if `length` is 0.
 * @param indices     `length` slots: block i becomes block `indices[i]` of that rank; no two blocks may have one
 *                    destination. May be NULL if `length` is 0.
 * @param options     overrides of `strategy` and `staging`, equal on all ranks, or NULL
 * @param[out] report is filled, or NULL
 * @return SLUICE_SUCCESS, or the same other code on every rank. */
int sluice_redistribute(sluice_context* context, void* data, uint64_t count, uint64_t block_bytes, uint64_t length,
                        int const* ranks, int64_t const* indices, sluice_options const* options, sluice_report* report);

/** Computes where a block goes. It is called on the calling thread, at least once for each local block while the block
 * is still in its old place. It must give the same answer each time, must not call MPI and must return (no longjmp).
 * @param user             what the call was given
 * @param index            number of the block on this rank
 * @param block            the bytes of the block
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
 * @param[out] report is filled, or NULL
 * @return SLUICE_SUCCESS, or the same other code on every rank; no byte has moved then. */
int sluice_redistribute_computed(sluice_context* context, void* data, uint64_t count, uint64_t block_bytes,
                                 sluice_destination_function destination, void* user, sluice_options const* options,
                                 sluice_report* report);

/** @}
 * @name Plan
 * @{ */

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
 * @param context     the ranks that hold the arrays; it must outlive the plan
 * @param count       number of blocks (slots) of this rank in each array
 * @param length      number of destinations, at most `count`; the blocks from `length` on are free
 * @param ranks       `length` ranks, as for sluice_redistribute()
 * @param indices     `length` slots, as for sluice_redistribute()
 * @param options     overrides of `strategy` and `staging`, equal on all ranks, or NULL
 * @param[out] plan   receives the handle; the caller frees it with sluice_plan_free(); NULL after a failure
 * @return SLUICE_SUCCESS, or the same other code on every rank. */
int sluice_plan_create(sluice_context* context, uint64_t count, uint64_t length, int const* ranks,
                       int64_t const* indices, sluice_options const* options, sluice_plan** plan);

/** Moves the blocks of each of the arrays by the map, array after array. Collective over the context.
 * @param plan        what sluice_plan_create() made
 * @param arrays      number of arrays, equal on all ranks
 * @param blocks      the arrays; the `count` of each must be the plan's
 * @param[out] report is filled with the sum over the arrays, or NULL
 * @return SLUICE_SUCCESS, or the same other code on every rank. If the ranks disagree about the `block_bytes` of one
 *         array, the arrays before it have been moved. */
int sluice_plan_apply(sluice_plan* plan, size_t arrays, sluice_blocks const* blocks, sluice_report* report);

/** Tells how much memory a plan holds on this rank.
 * @param plan a plan
 * @return bytes; 0 for NULL */
uint64_t sluice_plan_memory(sluice_plan const* plan);

/** Frees a plan. Its context must still exist.
 * @param[in,out] plan address of the handle, which becomes NULL
 * @return SLUICE_SUCCESS, or SLUICE_INVALID_ARGUMENT if `plan` is NULL. */
int sluice_plan_free(sluice_plan** plan);

/** @}
 * @name Publish and fetch
 * The store of sluice/fetch.hpp with callbacks instead of coroutines; the page "Publish and fetch" of the guide
 * explains it.
 * @{ */

/** Publications and fetches of this rank. A store belongs to one thread. Callbacks run on that thread, inside
 * sluice_store_progress(), sluice_store_wait(), sluice_store_wait_for(), sluice_store_finish() and sluice_store_free()
 * only. A callback may call every function but these five, and must return (no longjmp). A rank serves its peers inside
 * these five functions, too: a rank that has nothing more to fetch must be in one of them as long as others fetch from
 * it. */
typedef struct sluice_store sluice_store;

/** The name of published data on all ranks. It names one publication only. */
typedef struct sluice_key {
    int owner;      /**< rank of the store's context that publishes or sends the data */
    uint64_t id;    /**< the owner's choice */
    uint64_t epoch; /**< the owner's choice, for example the iteration; see sluice_store_close() */
} sluice_key;

/** The size in a sluice_want if the reader does not know it: the owner is asked first. */
#define SLUICE_ANY_BYTES UINT64_MAX

/** One fetch of a set. */
typedef struct sluice_want {
    sluice_key key; /**< what to fetch */
    uint64_t bytes; /**< its size, which must be the published one, or SLUICE_ANY_BYTES */
} sluice_want;

/** The data of a complete set, in the order of the wants. They are valid until they are freed, also after the store was
 * freed. Freeing them gives their tokens back, so that other sets can be fetched. */
typedef struct sluice_fetched sluice_fetched;

/** Counts the data in a set.
 * @param fetched a complete set
 * @return their number; 0 for NULL */
size_t sluice_fetched_count(sluice_fetched const* fetched);
/** Gives the data of one want. Sets of this rank that fetched the same key at once may share the bytes.
 * @param fetched a complete set
 * @param which   number of the want, from 0 on
 * @return The first byte, which the set owns; NULL past the last want. */
void const* sluice_fetched_data(sluice_fetched const* fetched, size_t which);
/** Gives the size of the data of one want.
 * @param fetched a complete set
 * @param which   number of the want, from 0 on
 * @return The bytes; 0 past the last want. */
uint64_t sluice_fetched_bytes(sluice_fetched const* fetched, size_t which);
/** Frees a set and gives its tokens back.
 * @param[in,out] fetched address of the handle, which becomes NULL
 * @return SLUICE_SUCCESS, or SLUICE_INVALID_ARGUMENT if `fetched` is NULL. */
int sluice_fetched_free(sluice_fetched** fetched);

/** Writes published or sent data into a message.
 * @param user     what the publication or the send was given
 * @param[out] out where to write
 * @param bytes    how many bytes must be written
 * @return 0, or another number with which the reader's fetch (of a send: the call) fails. */
typedef int (*sluice_pack_function)(void* user, void* out, uint64_t bytes);

/** Is told the end of a set.
 * @param user    what the call was given
 * @param code    SLUICE_SUCCESS if the set is complete; otherwise the reason, and sluice_last_error() names both sides
 * @param fetched the data, which belong to the callback now and must be freed with sluice_fetched_free(); NULL after a
 *                failure */
typedef void (*sluice_done_function)(void* user, int code, sluice_fetched* fetched);

/** Is told that all readers of a publication have it.
 * @param user what sluice_store_when_read() was given */
typedef void (*sluice_read_function)(void* user);

/** Makes a store. Collective over the context.
 * @param context    its ranks publish and fetch; it must outlive the store
 * @param[out] store receives the handle; the caller frees it with sluice_store_free(); NULL after a failure
 * @return SLUICE_SUCCESS, or another code. */
int sluice_store_create(sluice_context* context, sluice_store** store);

/** Publishes data that a function packs, each time a reader has tokens for them. What `pack` reads must stay as it is
 * until all readers have it.
 * @param store   the store
 * @param key     name of the data; its owner must be this rank
 * @param bytes   size of the data
 * @param pack    writes the data into a message
 * @param user    is handed to `pack`
 * @param readers number of fetches after which the publication ends
 * @return SLUICE_SUCCESS, SLUICE_INVALID_ARGUMENT for a key that is published already or another rank's, or another
 *         code. */
int sluice_store_publish(sluice_store* store, sluice_key key, uint64_t bytes, sluice_pack_function pack, void* user,
                         int readers);

/** Publishes contiguous data. They are sent from where they are, and must stay as they are until all readers have them.
 * @param store   the store
 * @param key     name of the data; its owner must be this rank
 * @param data    the first byte; may be NULL if `bytes` is 0
 * @param bytes   size of the data
 * @param readers number of fetches after which the publication ends
 * @return As sluice_store_publish(). */
int sluice_store_publish_bytes(sluice_store* store, sluice_key key, void const* data, uint64_t bytes, int readers);

/** Asks for a call when all readers of a publication have it. The call comes as well if the publication is withdrawn,
 * or if nothing of that key is published (any more); it never comes from inside this function.
 * @param store the store
 * @param key   a publication of this rank
 * @param read  is called
 * @param user  is handed to `read`
 * @return SLUICE_SUCCESS, SLUICE_INVALID_ARGUMENT for another rank's key or a NULL, or another code. */
int sluice_store_when_read(sluice_store* store, sluice_key key, sluice_read_function read, void* user);

/** Ends a publication. Readers that ask later, and those that wait, get SLUICE_INVALID_ARGUMENT.
 * @param store the store
 * @param key   a publication of this rank
 * @return SLUICE_SUCCESS, or another code. */
int sluice_store_withdraw(sluice_store* store, sluice_key key);

/** Promises that this rank will publish and send nothing more for epochs up to `epoch`. A fetch of a key that does not
 * exist then fails instead of waiting.
 * @param store the store
 * @param epoch the last closed epoch
 * @return SLUICE_SUCCESS, or another code. */
int sluice_store_close(sluice_store* store, uint64_t epoch);

/** Fetches a set of data, which is posted at once and granted whole. The set may be posted before its data are
 * published.
 * @param store the store
 * @param wants the set; it may be freed afterwards
 * @param count number of wants
 * @param done  is called when the set is complete or has failed, never from inside this function
 * @param user  is handed to `done`
 * @return SLUICE_SUCCESS, or another code (SLUICE_INVALID_ARGUMENT for NULLs) if the set could not be posted; `done` is
 *         not called then. */
int sluice_store_fetch_all(sluice_store* store, sluice_want const* wants, size_t count, sluice_done_function done,
                           void* user);

/** Sends data to a reader that did not ask for them, for programs that must push. The data are packed inside this call,
 * into memory that nothing bounds, and leave when the reader waits for them and has tokens (setting `send_control`).
 * @param store  the store
 * @param reader rank that receives them with sluice_store_receive_all(), once
 * @param key    name of the data; its owner must be this rank
 * @param bytes  size of the data
 * @param pack   writes the data
 * @param user   is handed to `pack`
 * @return SLUICE_SUCCESS; SLUICE_INVALID_ARGUMENT for a wrong key or reader, a closed epoch, or data that were sent to
 *         that reader already and are not received; SLUICE_OUT_OF_MEMORY; nothing is sent then. */
int sluice_store_send(sluice_store* store, int reader, sluice_key key, uint64_t bytes, sluice_pack_function pack,
                      void* user);

/** Sends contiguous data, which are copied inside this call.
 * @param store  the store
 * @param reader rank that receives them
 * @param key    name of the data; its owner must be this rank
 * @param data   the first byte; may be NULL if `bytes` is 0
 * @param bytes  size of the data
 * @return As sluice_store_send(). */
int sluice_store_send_bytes(sluice_store* store, int reader, sluice_key key, void const* data, uint64_t bytes);

/** Receives a set of data that their owners send to this rank. Each message is received once.
 * @param store the store
 * @param wants the set; it may be freed afterwards
 * @param count number of wants
 * @param done  is called when the set is complete or has failed, never from inside this function
 * @param user  is handed to `done`
 * @return As sluice_store_fetch_all(). */
int sluice_store_receive_all(sluice_store* store, sluice_want const* wants, size_t count, sluice_done_function done,
                             void* user);

/** Moves what can be moved, without waiting.
 * @param store      the store
 * @param[out] moved receives 1 if anything moved, else 0; or NULL
 * @return SLUICE_SUCCESS, or another code. */
int sluice_store_progress(sluice_store* store, int* moved);

/** Waits until all sets of this rank are complete.
 * @param store the store
 * @return SLUICE_SUCCESS, SLUICE_INVALID_ARGUMENT inside a callback, or another code. */
int sluice_store_wait(sluice_store* store);

/** Waits until a counter, which callbacks raise, has reached a value.
 * @param store   the store
 * @param counter the caller's counter
 * @param least   the value it must have at least
 * @return SLUICE_SUCCESS, SLUICE_INVALID_ARGUMENT inside a callback, or another code. */
int sluice_store_wait_for(sluice_store* store, uint64_t const* counter, uint64_t least);

/** Waits until every rank has finished; nothing is published or sent afterwards. Collective over the context.
 * @param store the store
 * @return SLUICE_SUCCESS, SLUICE_INVALID_ARGUMENT inside a callback, or another code. */
int sluice_store_finish(sluice_store* store);

/** Finishes the store and frees it. Collective over the context.
 * @param[in,out] store address of the handle, which becomes NULL
 * @return SLUICE_SUCCESS, SLUICE_INVALID_ARGUMENT inside a callback (the store stays then), or another code. */
int sluice_store_free(sluice_store** store);

/** What a store has done so far on this rank, and what it holds. sluice::fetch::StoreReport tells more. */
typedef struct sluice_store_report {
    uint64_t sets;           /**< sets that are complete */
    uint64_t fetched;        /**< data that were fetched from other ranks */
    uint64_t fetched_here;   /**< data that were fetched from this rank itself */
    uint64_t reused;         /**< data that were here already, for another set */
    uint64_t served;         /**< data that were served to other ranks */
    uint64_t fetched_bytes;  /**< bytes of all data that were fetched */
    uint64_t held;           /**< bytes of the buffers of sets and of serving, now */
    uint64_t peak;           /**< most bytes of these buffers at once */
    uint64_t beyond;         /**< sets that were granted beyond the limit, because nothing else would have moved */
    uint64_t early;          /**< requests that came before their publication */
    uint64_t retried;        /**< arrivals that waited for memory */
    uint64_t sent;           /**< messages that were sent by sluice_store_send() */
    uint64_t received;       /**< messages that were received by sluice_store_receive_all() */
    uint64_t sent_bytes;     /**< bytes of the messages that were sent */
    uint64_t received_bytes; /**< bytes of the messages that were received */
    uint64_t packed_peak;    /**< most bytes at once that were packed for readers that had not taken them */
    uint64_t
        uncontrolled_peak; /**< most bytes at once that were here without a token, because the sender did not ask */
    uint64_t unexpected;   /**< bytes, in all, that came before this rank waited for them */
} sluice_store_report;

/** Reads the figures of a store.
 * @param store       the store
 * @param[out] report is filled
 * @return SLUICE_SUCCESS, or SLUICE_INVALID_ARGUMENT for a NULL. */
int sluice_store_get_report(sluice_store* store, sluice_store_report* report);

/** @} */

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
