/* SPDX-License-Identifier: BSD-3-Clause */
/* A program whose report is known: reported MODE [anything].
 *   hold         rank 1 touches 40 MiB, prints "holding", then both sides wait in MPI_Recv for ever, to be killed
 *   collectives  one call of each kind that the matrix has, of sizes that tell which is which, and one that the matrix
 * does not have communicators  makes and frees communicators of all, of some, of one quick        only begins and ends
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;
static char* buffer;

enum { k_room = 1 << 20 };

static void hold(void) {
    if (rank == 1) {
        size_t const bytes = 40u << 20;
        char* const held = malloc(bytes);
        if (held == NULL) MPI_Abort(MPI_COMM_WORLD, 9);
        memset(held, rank + 1, bytes);
        fprintf(stderr, "touched %d\n", held[bytes / 2]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) fprintf(stderr, "holding\n");
    MPI_Recv(buffer, 1, MPI_CHAR, MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Each call has a power of two of bytes, so the sum in a cell shows which calls are in it. The last rank is the root
 * of calls with a root. */
static void collectives(void) {
    char* const in = buffer + k_room / 2;
    int* const counts = malloc(sizeof(int) * (size_t)size);
    int* const places = malloc(sizeof(int) * (size_t)size);
    MPI_Datatype* const types = malloc(sizeof(MPI_Datatype) * (size_t)size);
    if (counts == NULL || places == NULL || types == NULL) MPI_Abort(MPI_COMM_WORLD, 9);
    int const root = size - 1;
    MPI_Bcast(buffer, 1, MPI_CHAR, root, MPI_COMM_WORLD);
    MPI_Gather(buffer, 2, MPI_CHAR, in, 2, MPI_CHAR, root, MPI_COMM_WORLD);
    MPI_Scatter(buffer, 4, MPI_CHAR, in, 4, MPI_CHAR, root, MPI_COMM_WORLD);
    MPI_Reduce(buffer, in, 8, MPI_CHAR, MPI_MAX, root, MPI_COMM_WORLD);
    MPI_Allgather(buffer, 16, MPI_CHAR, in, 16, MPI_CHAR, MPI_COMM_WORLD);
    MPI_Alltoall(buffer, 32, MPI_CHAR, in, 32, MPI_CHAR, MPI_COMM_WORLD);
    for (int i = 0; i < size; ++i) {
        counts[i] = 64 * (1 + i + rank);
        places[i] = 4096 * i;
        types[i] = MPI_CHAR;
    }
    MPI_Alltoallv(buffer, counts, places, MPI_CHAR, in, counts, places, MPI_CHAR, MPI_COMM_WORLD);
    for (int i = 0; i < size; ++i)
        counts[i] = 4096;
    MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, buffer, counts, places, types, MPI_COMM_WORLD);
    MPI_Allreduce(buffer, in, 1000, MPI_CHAR, MPI_MAX, MPI_COMM_WORLD);
    MPI_Request request;
    MPI_Ibcast(buffer, 65536, MPI_CHAR, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    free(counts);
    free(places);
    free(types);
}

static void communicators(void) {
    MPI_Comm all, half, one, again;
    MPI_Comm_dup(MPI_COMM_WORLD, &all);
    MPI_Comm_split(all, rank % 2, rank, &half);
    MPI_Comm_dup(MPI_COMM_SELF, &one);
    MPI_Comm_dup(half, &again);
    MPI_Comm_free(&half);
    MPI_Comm_split(all, rank == 0 ? 0 : MPI_UNDEFINED, 0, &half);
    MPI_Comm_dup(all, &half);
}

int main(int argc, char** argv) {
    char const* const mode = argc > 1 ? argv[1] : "quick";
    int const threads = strcmp(mode, "threads") == 0;
    int provided;
    MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    buffer = calloc(k_room, 1);
    if (buffer == NULL) MPI_Abort(MPI_COMM_WORLD, 9);
    if (strcmp(mode, "hold") == 0) hold();
    if (strcmp(mode, "collectives") == 0) collectives();
    if (strcmp(mode, "communicators") == 0 || threads) communicators();
    MPI_Finalize();
    free(buffer);
    return 0;
}
