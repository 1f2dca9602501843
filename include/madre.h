/* The interface of MADRE (S. Siegel and A. Siegel, EuroPVM/MPI 2008, Figure 1) on top of Sluice, so that a program
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

#ifdef __cplusplus
extern "C" {
#endif

typedef struct MADRE_Object_s* MADRE_Object;

#define MADRE_OBJECT_NULL ((MADRE_Object)0)

/* Collective over comm, which must live as long as the object. data: numBlocks blocks, each blockLength elements of
 * datatype; blockLength and datatype must mean the same number of bytes on every rank, numBlocks may differ. datatype
 * must have no gaps and begin at its lower bound 0. strategy is one of the names below; capitals, '_', '-' and blanks
 * count for nothing:
 *   "token"                                   each receiver fetches whenever it has room
 *   "parking", "pinhend", "pinarHendrickson"  phases with parking (section 2.1)
 *   "cyclic", "cyclicScheduler"               schedule from a root (section 2.2)
 *   "alltoallv"                               pack, exchange, unpack; needs twice the data
 *   "auto"                                    one of these
 *   NULL or ""                                what SLUICE_STRATEGY says */
MADRE_Object MADRE_create(void* data, char* strategy, int numBlocks, int blockLength, MPI_Datatype datatype,
                          MPI_Comm comm);

/* Collective. Moves block i to position destIndices[i] of rank destRanks[i], for i < length; destRanks[i] = -1: block i
 * is dead, destIndices[i] is ignored. Blocks from length on are dead. 0 <= length <= numBlocks. */
void MADRE_redistribute(MADRE_Object madre, int length, int* destRanks, int* destIndices);

/* Collective. MADRE_OBJECT_NULL is ignored. */
void MADRE_destroy(MADRE_Object madre);

/* Local. From now on the blocks are at data. */
void MADRE_setDataPointer(MADRE_Object madre, void* data);

/* Bytes that all MADRE objects of this rank hold now, kept buffers included. 0 before MPI_Init and without objects. */
long MADRE_getMem(void);

#ifdef __cplusplus
}
#endif

#endif
