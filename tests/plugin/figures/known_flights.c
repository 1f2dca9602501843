/* SPDX-License-Identifier: BSD-3-Clause */
/* What calls keep busy, and how many bytes go where, is known of each function of this program; figures.py has the
 * words that it prints. Two ranks. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { k_bytes = 1 << 20, k_starts = 10 };
#define NAMED __attribute__((noinline, noclone)) static void
#define flight(function, bytes) \
    if (!rank) printf("flight %s %s %d\n", function, __func__, bytes)
#define traffic(function, out, in) printf("traffic %s %s %d %d\n", function, __func__, out, in)

static MPI_Comm const world = MPI_COMM_WORLD;
static int rank, other;
static char *a, *b; /* of 4 * k_bytes, in memory */
static long long to_other;

NAMED nowhere(void) {
    MPI_Request open[3];
    MPI_Isend(a, k_bytes, MPI_BYTE, MPI_PROC_NULL, 0, world, open);
    MPI_Irecv(b, k_bytes, MPI_BYTE, MPI_PROC_NULL, 0, world, open + 1);
    MPI_Send_init(a, k_bytes, MPI_BYTE, MPI_PROC_NULL, 0, world, open + 2);
    MPI_Start(open + 2);
    MPI_Waitall(3, open, MPI_STATUSES_IGNORE);
    MPI_Request_free(open + 2);
    MPI_Send(a, k_bytes, MPI_BYTE, MPI_PROC_NULL, 0, world);
    MPI_Recv(b, k_bytes, MPI_BYTE, MPI_PROC_NULL, 0, world, MPI_STATUS_IGNORE);
    MPI_Sendrecv(a, k_bytes, MPI_BYTE, MPI_PROC_NULL, 0, b, k_bytes, MPI_BYTE, MPI_PROC_NULL, 0, world,
                 MPI_STATUS_IGNORE);
    char const* const functions[] = {"MPI_Isend", "MPI_Irecv", "MPI_Send_init", "MPI_Start",
                                     "MPI_Send",  "MPI_Recv",  "MPI_Sendrecv"};
    for (int i = 0; i < 7; ++i) {
        flight(functions[i], 0);
        traffic(functions[i], 0, 0);
    }
}
NAMED half_nowhere(void) {
    int const to = rank ? MPI_PROC_NULL : 1, from = rank ? 0 : MPI_PROC_NULL;
    MPI_Sendrecv(a, k_bytes, MPI_BYTE, to, 0, b, k_bytes, MPI_BYTE, from, 0, world, MPI_STATUS_IGNORE);
    to_other += rank ? 0 : k_bytes;
    flight("MPI_Sendrecv", k_bytes);
    traffic("MPI_Sendrecv", rank ? 0 : k_bytes, rank ? k_bytes : 0);
}
NAMED one_buffer(void) {
    MPI_Request open[6];
    for (int i = 0; i < 3; ++i)
        MPI_Irecv(b + i * k_bytes, k_bytes, MPI_BYTE, other, i, world, open + i);
    for (int i = 0; i < 3; ++i)
        MPI_Isend(a, k_bytes, MPI_BYTE, other, i, world, open + 3 + i);
    MPI_Waitall(6, open, MPI_STATUSES_IGNORE);
    to_other += 3 * k_bytes;
    flight("MPI_Isend", k_bytes);
    traffic("MPI_Isend", 3 * k_bytes, 0);
}
NAMED parts(void) {
    MPI_Request open[6];
    for (int i = 0; i < 3; ++i)
        MPI_Irecv(b + i * k_bytes, k_bytes, MPI_BYTE, other, i, world, open + i);
    for (int i = 0; i < 3; ++i) /* each half in the one before */
        MPI_Isend(a + i * (k_bytes / 2), k_bytes, MPI_BYTE, other, i, world, open + 3 + i);
    MPI_Waitall(6, open, MPI_STATUSES_IGNORE);
    to_other += 3 * k_bytes;
    flight("MPI_Isend", 2 * k_bytes);
}
NAMED columns(void) { /* the first and the last of a matrix: they mesh, and are two */
    MPI_Datatype column;
    MPI_Request open[2];
    MPI_Type_vector(k_bytes / 4096, 1024, 4096, MPI_BYTE, &column);
    MPI_Type_commit(&column);
    int volatile number = 2; /* one place, whatever the compiler unrolls */
    for (int i = 0; i < number; ++i)
        MPI_Isend(a + i * 3072, 1, column, other, i, world, open + i);
    for (int i = 0; i < 2; ++i)
        MPI_Recv(b, k_bytes, MPI_BYTE, other, i, world, MPI_STATUS_IGNORE);
    MPI_Waitall(2, open, MPI_STATUSES_IGNORE);
    MPI_Type_free(&column);
    to_other += 2 * (k_bytes / 4);
    flight("MPI_Isend", 2 * (k_bytes / 4));
}
NAMED overlapping(void) { /* 64 times the same bytes */
    MPI_Datatype same;
    MPI_Type_create_hvector(64, k_bytes, 0, MPI_BYTE, &same);
    MPI_Type_commit(&same);
    if (rank)
        MPI_Send(a, 1, same, 0, 0, world);
    else {
        char* const large = malloc((size_t)64 * k_bytes);
        MPI_Recv(large, 64 * k_bytes, MPI_BYTE, 1, 0, world, MPI_STATUS_IGNORE);
        free(large);
    }
    MPI_Type_free(&same);
    to_other += rank ? 64 * k_bytes : 0;
    flight("MPI_Send", k_bytes);
}
NAMED in_place(void) {
    MPI_Allreduce(MPI_IN_PLACE, a, k_bytes, MPI_BYTE, MPI_BOR, world);
    MPI_Allreduce(a, b, k_bytes, MPI_BYTE, MPI_BOR, world);
    flight("MPI_Allreduce", 2 * k_bytes);
    MPI_Bcast(a, k_bytes, MPI_BYTE, 0, world);
    flight("MPI_Bcast", k_bytes);
    MPI_Sendrecv_replace(a, k_bytes, MPI_BYTE, other, 0, other, 0, world, MPI_STATUS_IGNORE);
    to_other += k_bytes + (rank ? 0 : k_bytes);
    flight("MPI_Sendrecv_replace", k_bytes);
    MPI_Request open;
    MPI_Iallreduce(MPI_IN_PLACE, a, k_bytes, MPI_BYTE, MPI_BOR, world, &open);
    MPI_Wait(&open, MPI_STATUS_IGNORE);
    flight("MPI_Iallreduce", k_bytes);
}
NAMED neighbours(void) {
    MPI_Comm line;
    int const ranks = 2, ring = 0, bytes[] = {k_bytes, k_bytes}, at[] = {0, k_bytes};
    MPI_Cart_create(world, 1, &ranks, &ring, 0, &line);
    MPI_Neighbor_alltoall(a, k_bytes, MPI_BYTE, b, k_bytes, MPI_BYTE, line);
    MPI_Neighbor_alltoallv(a, bytes, at, MPI_BYTE, b, bytes, at, MPI_BYTE, line);
    MPI_Neighbor_allgather(a, k_bytes, MPI_BYTE, b, k_bytes, MPI_BYTE, line);
    MPI_Comm_free(&line);
    char const* const functions[] = {"MPI_Neighbor_alltoall", "MPI_Neighbor_alltoallv", "MPI_Neighbor_allgather"};
    for (int i = 0; i < 3; ++i) { /* one at each end */
        flight(functions[i], 2 * k_bytes);
        traffic(functions[i], k_bytes, k_bytes);
    }
}
NAMED persistent(void) {
    MPI_Request pair[2];
    MPI_Send_init(a, k_bytes, MPI_BYTE, other, 0, world, pair);
    MPI_Recv_init(b, k_bytes, MPI_BYTE, other, 0, world, pair + 1);
    for (int i = 0; i < k_starts; ++i) {
        MPI_Startall(2, pair);
        MPI_Waitall(2, pair, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(pair);
    MPI_Request_free(pair + 1);
    to_other += k_starts * k_bytes;
    flight("MPI_Send_init", k_bytes);
    traffic("MPI_Send_init", 0, 0);
    traffic("MPI_Startall", k_starts * k_bytes, k_starts * k_bytes);
}
NAMED fresh(void) { /* what has come of messages into memory that was not there */
    MPI_Request open[4];
    char* taken[2];
    for (int i = 0; i < 2; ++i) {
        taken[i] = aligned_alloc(4096, 4 * k_bytes);
        madvise(taken[i], 4 * k_bytes, MADV_NOHUGEPAGE);
        MPI_Irecv(taken[i], 4 * k_bytes, MPI_BYTE, other, i, world, open + i);
    }
    for (int i = 0; i < 2; ++i)
        MPI_Isend(a, k_bytes, MPI_BYTE, other, i, world, open + 2 + i);
    MPI_Waitall(4, open, MPI_STATUSES_IGNORE);
    to_other += 2 * k_bytes;
    flight("MPI_Irecv", 2 * k_bytes);
    for (int i = 0; i < 2; ++i)
        free(taken[i]);
}
NAMED fresh_at_once(void) { /* the same in a blocking call, which has room for more than comes */
    char* const large = aligned_alloc(4096, (size_t)64 * k_bytes);
    madvise(large, (size_t)64 * k_bytes, MADV_NOHUGEPAGE);
    MPI_Sendrecv(a, k_bytes, MPI_BYTE, other, 0, large, 64 * k_bytes, MPI_BYTE, other, 0, world, MPI_STATUS_IGNORE);
    free(large);
    to_other += k_bytes;
    flight("MPI_Sendrecv", 2 * k_bytes);
}
NAMED one_sided(void) {
    MPI_Win window;
    MPI_Win_create(b, 4 * k_bytes, 1, MPI_INFO_NULL, world, &window);
    MPI_Win_fence(0, window);
    MPI_Put(a, k_bytes, MPI_BYTE, other, 0, k_bytes, MPI_BYTE, window);
    MPI_Win_fence(0, window);
    MPI_Get(a + k_bytes, k_bytes, MPI_BYTE, other, k_bytes, k_bytes, MPI_BYTE, window);
    MPI_Win_fence(0, window);
    MPI_Accumulate(a, k_bytes, MPI_BYTE, other, 0, k_bytes, MPI_BYTE, MPI_BOR, window);
    MPI_Put(a, k_bytes, MPI_BYTE, MPI_PROC_NULL, 0, k_bytes, MPI_BYTE, window);
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
    to_other += 3 * k_bytes; /* what is fetched goes the other way, and both fetch */
    traffic("MPI_Put", k_bytes, 0);
    traffic("MPI_Get", 0, k_bytes);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    other = 1 - rank;
    a = malloc(4 * k_bytes);
    b = malloc(4 * k_bytes);
    memset(a, 1, 4 * k_bytes);
    memset(b, 1, 4 * k_bytes);
    nowhere();
    half_nowhere();
    one_buffer();
    parts();
    columns();
    overlapping();
    in_place();
    neighbours();
    persistent();
    fresh();
    fresh_at_once();
    one_sided();
    printf("cell %d %d %lld\n", rank, other, to_other);
    MPI_Finalize();
    return 0;
}
