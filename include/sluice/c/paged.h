/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Data larger than memory for C: a file of blocks that are read into memory before their use, as a plan says, and
 * written back after it, under the same budget as communication. sluice/paged.hpp says the same for C++, sluice.h tells
 * the rules of the whole C interface. */
#ifndef SLUICE_C_PAGED_H
#define SLUICE_C_PAGED_H

#include <stddef.h>
#include <stdint.h>

#include "sluice/c/context.h"
#include "sluice/c/fetch.h"
#include "sluice/c/report.h"
#include "sluice/export.h"
#ifdef __cplusplus
extern "C" {
#endif

/** A file of blocks, private to a rank; no function of it is collective. It has no name in the file system and goes
 * with the process, however that ends; its space is reserved when it is made. What is never written reads as zeros.
 * Memory: 72 bytes a block, 25 for each entry of the plan, and for blocks up to the setting `paged_memory`; one set of
 * blocks is always granted, whatever its size. */
typedef struct sluice_paged_file sluice_paged_file;

/** Blocks in memory, in the order of the uses by which they were asked for. Several sets may hold the same block: they
 * share its bytes, and their order is the program's business. */
typedef struct sluice_paged_blocks sluice_paged_blocks;

/** The use of a block. */
enum sluice_block_access {
    SLUICE_BLOCK_ACCESS_READ = 0,   /**< its bytes are read and not written back */
    SLUICE_BLOCK_ACCESS_UPDATE = 1, /**< its bytes are read, changed, and written back */
    SLUICE_BLOCK_ACCESS_WRITE = 2   /**< all of it is overwritten; it is not read, so its first bytes are unspecified */
};

/** One use of a plan or of a set. */
typedef struct sluice_block_use {
    uint64_t block; /**< number of the block, from 0 on */
    int access;     /**< one of ::sluice_block_access */
} sluice_block_use;

/** Makes a file with blocks of different sizes.
 * @param context         its settings `paged_memory` and `paged_folder` count; it must outlive the file
 * @param bytes_of_blocks bytes of each block, `blocks` numbers, each at least 1
 * @param blocks          number of blocks
 * @param[out] file       receives the handle; the caller frees it with sluice_paged_file_free(); NULL after a failure
 * @return SLUICE_SUCCESS, SLUICE_OUT_OF_MEMORY if the disk has no room for the blocks, SLUICE_UNSUPPORTED if no file
 *         can be made there, SLUICE_INVALID_ARGUMENT for a NULL or a size of 0, or another code. */
SLUICE_API int sluice_paged_file_create(sluice_context* context, uint64_t const* bytes_of_blocks, size_t blocks,
                                        sluice_paged_file** file);

/** Makes a file with blocks of equal size.
 * @param context       as for sluice_paged_file_create()
 * @param blocks        number of blocks
 * @param bytes_of_each bytes of each block, at least 1
 * @param[out] file     receives the handle; the caller frees it with sluice_paged_file_free(); NULL after a failure
 * @return As sluice_paged_file_create(). */
SLUICE_API int sluice_paged_file_create_equal(sluice_context* context, uint64_t blocks, uint64_t bytes_of_each,
                                              sluice_paged_file** file);

/** Sets the order in which blocks will be used, instead of any earlier plan. The next blocks are read ahead, and the
 * last ones leave memory first. The program need not keep to it: any other use is correct, too, but slower.
 * @param file   the file
 * @param order  the uses, in order; they are copied
 * @param count  number of uses
 * @param repeat 0, or another number if the plan begins again after its end
 * @return SLUICE_SUCCESS, SLUICE_INVALID_ARGUMENT for a block or an access that does not exist or a NULL, or another
 *         code. */
SLUICE_API int sluice_paged_file_plan(sluice_paged_file* file, sluice_block_use const* order, size_t count, int repeat);

/** Is told the end of a request for blocks.
 * @param user   what the call was given
 * @param code   SLUICE_SUCCESS if the blocks are in memory; otherwise the reason, and sluice_last_error() explains it
 * @param blocks the blocks, which belong to the callback now and must be freed with sluice_paged_blocks_free(); NULL
 *               after a failure */
typedef void (*sluice_blocks_function)(void* user, int code, sluice_paged_blocks* blocks);

/** Asks for a set of blocks, all of which are granted together. Sets are granted in the order of their requests, but
 * one that needs no further memory may go first.
 * @param file  the file
 * @param uses  the set; it may be freed afterwards
 * @param count number of uses
 * @param done  is called once, from a call that moves communication or blocks: sluice_paged_file_progress(),
 *              sluice_paged_file_use_now(), sluice_paged_file_plan(), or those of a store of the same context. It is
 *              not called any more after the file was freed. It must return (no longjmp) and must not throw. Its code
 *              is SLUICE_INVALID_ARGUMENT for a block that does not exist, SLUICE_OUT_OF_MEMORY if the set alone
 *              exceeds the memory of the process or an allocation fails, SLUICE_UNSUPPORTED if the disk fails, also if
 *              it failed to write a block back earlier.
 * @param user  is handed to `done`
 * @return SLUICE_SUCCESS, SLUICE_INVALID_ARGUMENT for an unknown access or a NULL, or another code if the set could not
 *         be posted; `done` is not called then. */
SLUICE_API int sluice_paged_file_use(sluice_paged_file* file, sluice_block_use const* uses, size_t count,
                                     sluice_blocks_function done, void* user);

/** Waits for a set of blocks; communication on the context advances meanwhile.
 * @param file        the file
 * @param uses        the set
 * @param count       number of uses
 * @param[out] blocks receives the blocks; the caller frees them with sluice_paged_blocks_free(); NULL after a failure
 * @return SLUICE_SUCCESS, a code as `done` of sluice_paged_file_use() gets it, or SLUICE_INVALID_ARGUMENT inside a
 *         callback of the file. */
SLUICE_API int sluice_paged_file_use_now(sluice_paged_file* file, sluice_block_use const* uses, size_t count,
                                         sluice_paged_blocks** blocks);

/** Counts the blocks of a set.
 * @param blocks a set
 * @return blocks; 0 for NULL */
SLUICE_API size_t sluice_paged_blocks_count(sluice_paged_blocks const* blocks);

/** Gives one block.
 * @param blocks a set
 * @param which  number of the use, from 0 on
 * @return its first byte, which the file owns; NULL past the last use */
SLUICE_API void* sluice_paged_blocks_data(sluice_paged_blocks const* blocks, size_t which);

/** Gives the size of one block.
 * @param blocks a set
 * @param which  number of the use, from 0 on
 * @return bytes; 0 past the last use */
SLUICE_API uint64_t sluice_paged_blocks_bytes(sluice_paged_blocks const* blocks, size_t which);

/** Frees a set: blocks that were changed go back to the file, and their memory is free for others. A set may be freed
 * after its file, but not after the context.
 * @param[in,out] blocks address of the handle, which becomes NULL
 * @return SLUICE_SUCCESS, or SLUICE_INVALID_ARGUMENT if `blocks` is NULL. */
SLUICE_API int sluice_paged_blocks_free(sluice_paged_blocks** blocks);

/** Moves what can be moved, without waiting.
 * @param file       the file
 * @param[out] moved receives 1 if anything moved, else 0; or NULL
 * @return SLUICE_SUCCESS, or another code. */
SLUICE_API int sluice_paged_file_progress(sluice_paged_file* file, int* moved);

/** Reads what a file has done so far.
 * @param file        the file
 * @param[out] report is filled: `sets` (that were granted), `found` (blocks that were in memory or on their way when
 *                    they were asked for), `brought`, `written` and `unplanned` (blocks), `parts` and `parts_found`
 *                    (parts of blocks that were read for publications), `beyond` (sets granted beyond the limit), in
 *                    bytes `held` (now) and `peak`, and the flags `on_disk` (0: the folder is in memory itself, so the
 *                    file saves none) and `past_cache` (0: the file system has no direct input and output)
 * @return SLUICE_SUCCESS, SLUICE_INVALID_ARGUMENT for a NULL, or SLUICE_OUT_OF_MEMORY. */
SLUICE_API int sluice_paged_file_report(sluice_paged_file const* file, sluice_report* report);

/** Frees a file. Sets of its blocks, and publications of it, may be used further. Requests whose `done` was not called
 * are dropped.
 * @param[in,out] file address of the handle, which becomes NULL
 * @return SLUICE_SUCCESS, or SLUICE_INVALID_ARGUMENT if `file` is NULL. */
SLUICE_API int sluice_paged_file_free(sluice_paged_file** file);

/** Publishes a part of a block, for others to fetch. It is read from memory if the block is there, otherwise from the
 * file without the rest of the block, when a reader has tokens for it. It must stay as it is until all readers have it.
 * @param store   a store of the same context
 * @param key     name of the data; its owner must be this rank
 * @param file    the file; it may be freed afterwards
 * @param block   number of the block
 * @param offset  where the part begins, in bytes from the beginning of the block
 * @param bytes   size of the part
 * @param readers number of fetches after which the publication ends
 * @return SLUICE_SUCCESS, SLUICE_INVALID_ARGUMENT for a part that does not exist, a key that is published already or
 *         another rank's, or a NULL; or another code. */
SLUICE_API int sluice_publish_part(sluice_store* store, sluice_key key, sluice_paged_file const* file, uint64_t block,
                                   uint64_t offset, uint64_t bytes, int readers);

#ifdef __cplusplus
}
#endif

#endif
