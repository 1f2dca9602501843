/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that communicates in each common way, and then prints what the kernel says of its memory, for own.py:
 *
 *     kernel RANK ANONYMOUS PRIVATE OWN
 *
 * in KiB (smaps.h). With an argument, all mappings go to the file ARGUMENT.RANK. */
#include <malloc.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "smaps.h"

enum { most = 1 << 20, rounds = 20 };

static char* out;
static char* in;

static void pairs(int rank, int size) {
    int const sizes[] = {8, 4096, 65536, most};
    int const next = (rank + 1) % size, previous = (rank + size - 1) % size;
    for (int i = 0; i < 4 * rounds; ++i) {
        MPI_Request requests[2];
        MPI_Status statuses[2];
        int const bytes = sizes[i % 4];
        MPI_Sendrecv(out, bytes, MPI_CHAR, next, 1, in, bytes, MPI_CHAR, previous, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        MPI_Irecv(in, bytes, MPI_CHAR, previous, 2, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(out, bytes, MPI_CHAR, next, 2, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, statuses);
    }
}

static void collectives(int size) {
    for (int i = 0; i < rounds; ++i) {
        int const bytes = (i % 2 == 0 ? 64 : most) / size;
        MPI_Alltoall(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, MPI_COMM_WORLD);
        MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, bytes, MPI_CHAR, MPI_COMM_WORLD);
        MPI_Allreduce(out, in, bytes / 8, MPI_LONG, MPI_MIN, MPI_COMM_WORLD);
        MPI_Allgather(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, MPI_COMM_WORLD);
        MPI_Bcast(out, bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void tell(int rank, char const* copy) {
    struct smaps found = {0, 0, 0};
    FILE* to = NULL;
    if (copy != NULL) {
        char name[4096];
        snprintf(name, sizeof name, "%s.%d", copy, rank);
        to = fopen(name, "w");
    }
    if (!read_smaps(&found, to)) MPI_Abort(MPI_COMM_WORLD, 1);
    if (to != NULL) fclose(to);
    printf("kernel %d %ld %ld %ld\n", rank, found.anonymous, found.private_pages, found.own);
}

int main(int argc, char** argv) {
    int rank, size;
    MPI_Comm other;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    out = malloc(most);
    in = malloc(most);
    memset(out, 1, most);
    memset(in, 1, most);
    pairs(rank, size);
    collectives(size);
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    MPI_Barrier(other);
    MPI_Comm_free(&other);
    MPI_Barrier(MPI_COMM_WORLD);
    malloc_trim(0); /* free pages in the heap are the allocator's */
    tell(rank, argc > 1 ? argv[1] : NULL);
    fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
