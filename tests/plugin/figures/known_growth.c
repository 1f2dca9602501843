/* SPDX-License-Identifier: BSD-3-Clause */
/* Takes memory of the MPI again and again, and gives it back: what a place has grown by is the most that it held at a
 * time. Prints lines for figures.py. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#define NAMED __attribute__((noinline, noclone)) static void

enum { rounds = 12, bytes = 32 << 20, most = 48 << 20 };
enum { pairs = 40000, little = 1 << 20 };

NAMED windows(void) {
    for (int i = 0; i < rounds; ++i) {
        MPI_Win window;
        char* memory;
        MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
        memset(memory, 1, bytes);
        MPI_Win_free(&window);
    }
    printf("grown MPI_Win_allocate %s %d\n", __func__, most);
}

/* Requests that are made and never freed. MPICH takes their memory in MPI_Startall, 272 KiB in every 512th call, and
 * Open MPI in the calls that make them; none of it comes in MPI_Waitall, in which most samples find the rank. */
NAMED persistent(void) {
    static double in[100], out[100];
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 0; i < pairs; ++i) {
        MPI_Request both[2];
        MPI_Recv_init(in, 100, MPI_DOUBLE, (rank + 1) % ranks, 0, MPI_COMM_WORLD, &both[0]);
        MPI_Send_init(out, 100, MPI_DOUBLE, (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, &both[1]);
        MPI_Startall(2, both);
        MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    }
    printf("grown MPI_Waitall %s %d\n", __func__, little);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    windows();
    persistent();
    MPI_Finalize();
    return 0;
}
