/* SPDX-License-Identifier: BSD-3-Clause */
/* Takes memory of the MPI again and again, and gives it back: what a place has grown by is the most that it held at a
 * time. Prints lines for figures.py. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#define NAMED __attribute__((noinline, noclone)) static void

enum { rounds = 12, bytes = 32 << 20, most = 48 << 20 };

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

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    windows();
    MPI_Finalize();
    return 0;
}
