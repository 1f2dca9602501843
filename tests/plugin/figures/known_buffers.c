/* SPDX-License-Identifier: BSD-3-Clause */
/* How many pages the large buffers of this program have, and how many bytes are in flight at once, is known; figures.py
 * has the words that it prints. Two ranks. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { k_bytes = 4 << 20, k_buffers = 5, k_page = 4096, k_rounds = 3 };

static char* mapped(size_t bytes) {
    char* const at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) exit(3);
    return memset(at, 1, bytes);
}

static void exchange(int rank, char* buffer, int bytes) {
    if (rank == 0)
        MPI_Send(buffer, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    else
        MPI_Recv(buffer, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char* buffers[k_buffers];
    for (int i = 0; i < k_buffers; ++i)
        buffers[i] = mapped(k_bytes + 2 * k_page) + k_page; /* pages of their own */
    char* const small = mapped(k_page);
    for (int round = 0; round < k_rounds; ++round) {
        for (int i = 0; i < k_buffers - 2; ++i)
            exchange(rank, buffers[i], k_bytes);
        exchange(rank, buffers[0] + 100, k_bytes / 2); /* a part of the first */
        exchange(rank, small, k_page);                 /* too small to be registered */
        if (rank == 0) {                               /* two at once */
            MPI_Request open[2];
            for (int i = 0; i < 2; ++i)
                MPI_Isend(buffers[k_buffers - 2 + i], k_bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, open + i);
            MPI_Waitall(2, open, MPI_STATUSES_IGNORE);
        } else {
            exchange(rank, buffers[k_buffers - 2], k_bytes);
            exchange(rank, buffers[k_buffers - 1] + 8, k_bytes); /* begins and ends within a page */
        }
    }
    printf("pinned %d %d %d\n", rank, (k_buffers * k_bytes + (rank == 0 ? 0 : k_page)) >> 10,
           (rank == 0 ? 2 : 1) * k_bytes >> 10);
    MPI_Finalize();
    return 0;
}
