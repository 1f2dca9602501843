/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The interface of MADRE (S. Siegel and A. Siegel, EuroPVM/MPI 2008, Figure 1) on top of Sluice, so that a program
 * written for it compiles and runs unchanged: include this header, link the library of your MPI (sluice-openmpi,
 * sluice-mpich).
 *
 * What the figure leaves open is settled so. MADRE_create writes to stderr, on one rank, what is wrong and returns
 * MADRE_OBJECT_NULL on every rank. MADRE_redistribute returns nothing, so a program cannot ask whether its blocks were
 * moved: on bad input no byte is changed, the reason goes to stderr and the error handler of `comm` is called, as an
 * MPI function would; by default that ends the program, with MPI_ERRORS_RETURN the call returns. A null object does the
 * same on MPI_COMM_WORLD. Memory beside the array: as <sluice/redistribute.hpp> says; the setting is SLUICE_STAGING. */
#ifndef MADRE_H
#define MADRE_H

#include <mpi.h>
#include <stddef.h>

#include "sluice/export.h"

#ifdef __cplusplus
extern "C" {
#endif

/** An array of blocks on the ranks of a communicator. */
typedef struct MADRE_Object_s* MADRE_Object;

/** No object. */
#define MADRE_OBJECT_NULL ((MADRE_Object)0)

/** Makes an object for an array of blocks. Collective over `comm`.
 *
 * The names of strategies follow; capitals, underscores, hyphens and blanks in a name do not matter.
 *
 * | name | strategy |
 * | --- | --- |
 * | `token` | each receiver fetches whenever it has room |
 * | `parking`, `pinhend`, `pinarHendrickson` | phases with parking (section 2.1) |
 * | `cyclic`, `cyclicScheduler` | a schedule from a root (section 2.2) |
 * | `alltoallv` | pack, exchange, unpack; it needs twice the data |
 * | `auto` | one of these |
 * | NULL or the empty text | what `SLUICE_STRATEGY` says |
 *
 * @param data        `numBlocks` blocks of this rank, contiguous; the caller owns them
 * @param strategy    one of the names above
 * @param numBlocks   number of blocks of this rank; ranks may differ
 * @param blockLength elements of one block; with `datatype` the same number of bytes on every rank
 * @param datatype    type of an element, which must have no gaps and begin at its lower bound 0
 * @param comm        the ranks that hold the array; it must live as long as the object
 * @return The object, which MADRE_destroy() frees; MADRE_OBJECT_NULL on every rank if an argument is wrong. */
SLUICE_API MADRE_Object MADRE_create(void* data, char* strategy, int numBlocks, int blockLength, MPI_Datatype datatype,
                                     MPI_Comm comm);

/** Moves block i to position `destIndices[i]` of rank `destRanks[i]`, for i < `length`. Collective. Blocks from
 * `length` on are dead: their bytes need not survive.
 * @param handle      the object
 * @param length      number of destinations, from 0 to the number of blocks
 * @param destRanks   `length` ranks; -1 marks block i as dead, and `destIndices[i]` is ignored
 * @param destIndices `length` positions, from 0 on; no two live blocks may have one destination */
SLUICE_API void MADRE_redistribute(MADRE_Object handle, int length, int* destRanks, int* destIndices);

/** Frees an object. Collective. MADRE_OBJECT_NULL is ignored.
 * @param handle the object */
SLUICE_API void MADRE_destroy(MADRE_Object handle);

/** Tells that from now on the blocks of this rank are at another address. Local.
 * @param handle the object
 * @param data  the new address */
SLUICE_API void MADRE_setDataPointer(MADRE_Object handle, void* data);

/** Tells how much memory all MADRE objects of this rank hold now.
 * @return Bytes, kept buffers included; 0 before MPI_Init and without objects. */
SLUICE_API long MADRE_getMem(void);

#ifdef __cplusplus
}
#endif

#endif
