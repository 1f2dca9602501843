/* SPDX-License-Identifier: BSD-3-Clause */
/* For killed.py: the last rank takes memory until it is killed, or gets none, where there is no control group; the
 * others wait for it. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void take_for_ever(void) {
    enum { piece = 1 << 20 };
    for (;;) {
        char volatile* const memory = malloc(piece);
        if (memory == NULL) exit(3);
        for (int i = 0; i < piece; i += 1024)
            memory[i] = 1;
        usleep(4000); /* so that samples see it grow */
    }
}

int main(int argc, char** argv) {
    int rank, size, never;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == size - 1) take_for_ever();
    MPI_Recv(&never, 1, MPI_INT, size - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
