/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Publish and fetch for C: the store of sluice/fetch.hpp with callbacks instead of coroutines. The page "Publish and
 * fetch" of the guide explains it, sluice.h tells the rules of the whole C interface. */
#ifndef SLUICE_C_FETCH_H
#define SLUICE_C_FETCH_H

#include <stddef.h>
#include <stdint.h>

#include "sluice/c/context.h"
#include "sluice/c/report.h"
#include "sluice/export.h"
#ifdef __cplusplus
extern "C" {
#endif

/** Publications and fetches of this rank. A store belongs to one thread. Callbacks run on that thread, inside
 * sluice_store_progress(), sluice_store_wait(), sluice_store_wait_for(), sluice_store_wait_until(),
 * sluice_store_finish() and sluice_store_free() of any store of the same context, and inside the functions of its paged
 * files that wait or move blocks, only. A callback may call every function but these, must return (no longjmp) and must
 * not throw. A rank serves its peers inside these six functions, too: a rank that has nothing more to fetch must be
 * in one of them as long as others fetch from it. */
typedef struct sluice_store sluice_store;

/** The name of published data on all ranks. It names one publication only. */
typedef struct sluice_key {
    int owner;      /**< rank of the store's context that publishes or sends the data */
    uint64_t id;    /**< the owner's choice */
    uint64_t epoch; /**< the owner's choice, for example the iteration; see sluice_store_close() */
} sluice_key;

/** The size in a sluice_fetch_request if the reader does not know it: the owner is asked first. */
#define SLUICE_ANY_BYTES UINT64_MAX

/** One fetch of a set. */
typedef struct sluice_fetch_request {
    sluice_key key; /**< what to fetch */
    uint64_t bytes; /**< its size, which must be the published one, or SLUICE_ANY_BYTES */
} sluice_fetch_request;

/** The data of a complete set, in the order of the requests. They are valid until they are freed, also after the store
 * was freed. Freeing them gives their tokens back, so that other sets can be fetched. */
typedef struct sluice_fetch_result sluice_fetch_result;

/** Counts the data in a set.
 * @param result a complete set
 * @return their number; 0 for NULL */
SLUICE_API size_t sluice_fetch_result_count(sluice_fetch_result const* result);
/** Gives the data of one request. Sets of this rank that fetched the same key at once may share the bytes.
 * @param result a complete set
 * @param which  number of the request, from 0 on
 * @return The first byte, which the set owns; NULL past the last request. */
SLUICE_API void const* sluice_fetch_result_data(sluice_fetch_result const* result, size_t which);
/** Gives the size of the data of one request.
 * @param result a complete set
 * @param which  number of the request, from 0 on
 * @return The bytes; 0 past the last request. */
SLUICE_API uint64_t sluice_fetch_result_bytes(sluice_fetch_result const* result, size_t which);
/** Frees a set and gives its tokens back.
 * @param[in,out] result address of the handle, which becomes NULL
 * @return SLUICE_SUCCESS, or SLUICE_INVALID_ARGUMENT if `result` is NULL. */
SLUICE_API int sluice_fetch_result_free(sluice_fetch_result** result);

/** Writes published or sent data into a message.
 * @param user     what the publication or the send was given
 * @param[out] out where to write
 * @param bytes    how many bytes must be written
 * @return 0, or another number with which the reader's fetch (of a send: the call) fails. */
typedef int (*sluice_pack_function)(void* user, void* out, uint64_t bytes);

/** Is told the end of a set.
 * @param user   what the call was given
 * @param code   SLUICE_SUCCESS if the set is complete; otherwise the reason, and sluice_last_error() names both sides
 * @param result the data, which belong to the callback now and must be freed with sluice_fetch_result_free(); NULL
 *               after a failure */
typedef void (*sluice_done_function)(void* user, int code, sluice_fetch_result* result);

/** Is told that all readers of a publication, or of several, have it.
 * @param user what the function was given that asked for the call */
typedef void (*sluice_delivered_function)(void* user);

/** Makes a store. Collective over the context.
 * @param context    its ranks publish and fetch; it must outlive the store
 * @param[out] store receives the handle; the caller frees it with sluice_store_free(); NULL after a failure
 * @return SLUICE_SUCCESS, or another code. */
SLUICE_API int sluice_store_create(sluice_context* context, sluice_store** store);

/** Publishes data that a function packs, each time a reader has tokens for them. What `pack` reads must stay as it is
 * until all readers have it.
 * @param store   the store
 * @param key     name of the data; its owner must be this rank
 * @param bytes   size of the data
 * @param pack    writes the data into a message
 * @param user    is handed to `pack`
 * @param readers number of fetches after which the publication ends, at least 1
 * @return SLUICE_SUCCESS, SLUICE_INVALID_ARGUMENT for a key that is published already or another rank's, a closed epoch
 *         or a finished store, or another code. */
SLUICE_API int sluice_store_publish(sluice_store* store, sluice_key key, uint64_t bytes, sluice_pack_function pack,
                                    void* user, int readers);

/** Publishes contiguous data. They are sent from where they are, and must stay as they are until all readers have them.
 * @param store   the store
 * @param key     name of the data; its owner must be this rank
 * @param data    the first byte; may be NULL if `bytes` is 0
 * @param bytes   size of the data
 * @param readers number of fetches after which the publication ends, at least 1
 * @return As sluice_store_publish(). */
SLUICE_API int sluice_store_publish_bytes(sluice_store* store, sluice_key key, void const* data, uint64_t bytes,
                                          int readers);

/** Takes the data that a source was asked for. It is ended exactly once, by sluice_data_sink_complete() or
 * sluice_data_sink_fail(), on the thread of its store. */
typedef struct sluice_data_sink sluice_data_sink;

/** Begins to bring published data from elsewhere, for example from a disk. It ends the sink at once, or later: in a
 * callback, or between two calls of the store. Other readers are served meanwhile.
 * @param user what the publication was given
 * @param sink takes the data; it belongs to the callback now */
typedef void (*sluice_source_function)(void* user, sluice_data_sink* sink);

/** Publishes data that are elsewhere and are brought when a reader has tokens for them, once for each reader.
 * @param store   the store
 * @param key     name of the data; its owner must be this rank
 * @param bytes   size of the data
 * @param source  begins to bring them
 * @param user    is handed to `source`
 * @param readers number of fetches after which the publication ends, at least 1
 * @return As sluice_store_publish(). */
SLUICE_API int sluice_store_publish_lazily(sluice_store* store, sluice_key key, uint64_t bytes,
                                           sluice_source_function source, void* user, int readers);

/** Ends a sink with its data.
 * @param[in,out] sink address of the handle, which becomes NULL
 * @param data         the first byte; the data need only be valid during this call; may be NULL if `bytes` is 0
 * @param bytes        their size. If it is not the published one, the reader's fetch fails.
 * @return SLUICE_SUCCESS; SLUICE_INVALID_ARGUMENT for a NULL, and the sink is not ended then; or another code. */
SLUICE_API int sluice_data_sink_complete(sluice_data_sink** sink, void const* data, uint64_t bytes);

/** Ends a sink without data: the reader's fetch fails.
 * @param[in,out] sink address of the handle, which becomes NULL
 * @param why          the reason, which the reader's sluice_last_error() contains; it is copied
 * @return SLUICE_SUCCESS; SLUICE_INVALID_ARGUMENT for a NULL, and the sink is not ended then; or another code. */
SLUICE_API int sluice_data_sink_fail(sluice_data_sink** sink, char const* why);

/** Asks for a call when all readers of a publication have it. The call comes as well if the publication is withdrawn,
 * or if nothing of that key is published (any more); it never comes from inside this function.
 * @param store the store
 * @param key   a publication of this rank
 * @param done  is called
 * @param user  is handed to `done`
 * @return SLUICE_SUCCESS, SLUICE_INVALID_ARGUMENT for another rank's key or a NULL, or another code. */
SLUICE_API int sluice_store_when_all_have_it(sluice_store* store, sluice_key key, sluice_delivered_function done,
                                             void* user);

/** Asks for one call when all readers of several publications have them, as sluice_store_when_all_have_it().
 * @param store the store
 * @param keys  publications of this rank; the list may be freed after the call
 * @param count number of keys
 * @param done  is called
 * @param user  is handed to `done`
 * @return As sluice_store_when_all_have_it(). */
SLUICE_API int sluice_store_when_all_have_them(sluice_store* store, sluice_key const* keys, size_t count,
                                               sluice_delivered_function done, void* user);

/** Ends a publication. Readers that ask later, and those that wait, get SLUICE_INVALID_ARGUMENT.
 * @param store the store
 * @param key   a publication of this rank
 * @return SLUICE_SUCCESS, or another code. */
SLUICE_API int sluice_store_withdraw(sluice_store* store, sluice_key key);

/** Promises that this rank will publish and send nothing more for epochs up to `epoch`. A fetch of a key that does not
 * exist then fails instead of waiting.
 * @param store the store
 * @param epoch the last closed epoch
 * @return SLUICE_SUCCESS, or another code. */
SLUICE_API int sluice_store_close(sluice_store* store, uint64_t epoch);

/** Fetches a set of data, which is posted at once and granted whole. The set may be posted before its data are
 * published.
 * @param store    the store
 * @param requests the set; it may be freed afterwards
 * @param count    number of requests
 * @param done     is called when the set is complete or has failed, never from inside this function
 * @param user     is handed to `done`
 * @return SLUICE_SUCCESS, or another code (SLUICE_INVALID_ARGUMENT for NULLs) if the set could not be posted; `done` is
 *         not called then. */
SLUICE_API int sluice_store_fetch_all(sluice_store* store, sluice_fetch_request const* requests, size_t count,
                                      sluice_done_function done, void* user);

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
SLUICE_API int sluice_store_send(sluice_store* store, int reader, sluice_key key, uint64_t bytes,
                                 sluice_pack_function pack, void* user);

/** Sends contiguous data, which are copied inside this call.
 * @param store  the store
 * @param reader rank that receives them
 * @param key    name of the data; its owner must be this rank
 * @param data   the first byte; may be NULL if `bytes` is 0
 * @param bytes  size of the data
 * @return As sluice_store_send(). */
SLUICE_API int sluice_store_send_bytes(sluice_store* store, int reader, sluice_key key, void const* data,
                                       uint64_t bytes);

/** Receives a set of data that their owners send to this rank. Each message is received once.
 * @param store    the store
 * @param requests the set; it may be freed afterwards
 * @param count    number of requests
 * @param done     is called when the set is complete or has failed, never from inside this function
 * @param user     is handed to `done`
 * @return As sluice_store_fetch_all(). */
SLUICE_API int sluice_store_receive_all(sluice_store* store, sluice_fetch_request const* requests, size_t count,
                                        sluice_done_function done, void* user);

/** Moves what can be moved, without waiting.
 * @param store      the store
 * @param[out] moved receives 1 if anything moved, else 0; or NULL
 * @return SLUICE_SUCCESS, or another code: with the setting check (data, all) SLUICE_INVALID_ARGUMENT if a reader got
 * other data than this rank has published. The functions that wait return it as well. */
SLUICE_API int sluice_store_progress(sluice_store* store, int* moved);

/** Waits until all sets of this rank are complete.
 * @param store the store
 * @return SLUICE_SUCCESS, SLUICE_INVALID_ARGUMENT inside a callback, or another code. */
SLUICE_API int sluice_store_wait(sluice_store* store);

/** Waits until a counter, which callbacks raise, has reached a value.
 * @param store   the store
 * @param counter the caller's counter
 * @param least   the value it must have at least
 * @return SLUICE_SUCCESS, SLUICE_INVALID_ARGUMENT inside a callback, or another code. */
SLUICE_API int sluice_store_wait_for(sluice_store* store, uint64_t const* counter, uint64_t least);

/** Says whether a wait is over.
 * @param user what the wait was given
 * @return another number than 0 if it is over */
typedef int (*sluice_condition_function)(void* user);

/** Waits until a function says that it is over, and serves peers and calls back meanwhile.
 * @param store the store
 * @param over  is called again and again
 * @param user  is handed to `over`
 * @return SLUICE_SUCCESS, SLUICE_INVALID_ARGUMENT inside a callback or for a NULL, or another code. */
SLUICE_API int sluice_store_wait_until(sluice_store* store, sluice_condition_function over, void* user);

/** Counts the sets of this rank, fetched and received, that are not complete.
 * @param store the store
 * @return posted sets; 0 for NULL */
SLUICE_API uint64_t sluice_store_open_sets(sluice_store const* store);

/** Waits until every rank has finished; nothing is published or sent afterwards. Collective over the context.
 * @param store the store
 * @return SLUICE_SUCCESS, SLUICE_INVALID_ARGUMENT inside a callback, or another code. */
SLUICE_API int sluice_store_finish(sluice_store* store);

/** Finishes the store and frees it. Collective over the context.
 * @param[in,out] store address of the handle, which becomes NULL
 * @return SLUICE_SUCCESS, SLUICE_INVALID_ARGUMENT inside a callback (the store stays then), or another code. */
SLUICE_API int sluice_store_free(sluice_store** store);

/** Reads what a store has done so far on this rank, and what it holds.
 * @param store       the store
 * @param[out] report is filled with the figures of sluice::StoreReport under their names: `sets`, `fetched`,
 *                    `fetched_here`, `reused`, `served`, `beyond`, `early`, `retried`, `sent`, `received` and others,
 *                    and in bytes `fetched_bytes`, `held`, `peak`, `sent_bytes`, `received_bytes`, `packed_peak`,
 *                    `uncontrolled_peak` and `unexpected`
 * @return SLUICE_SUCCESS, SLUICE_INVALID_ARGUMENT for a NULL, or SLUICE_OUT_OF_MEMORY. */
SLUICE_API int sluice_store_report(sluice_store const* store, sluice_report* report);

#ifdef __cplusplus
}
#endif

#endif
