/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends each block to the next rank and says whether it arrived. */
#include <mpi.h>
#include <sluice/sluice.h>
#include <stdio.h>

enum { COUNT = 1000 };

int main(int argc, char** argv) {
    static long blocks[COUNT];
    static int ranks[COUNT];
    static int64_t indices[COUNT];
    int rank, size, i, from, wrong = 0;
    sluice_context* context = NULL;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (i = 0; i < COUNT; ++i) {
        blocks[i] = (long)rank * COUNT + i;
        ranks[i] = (rank + 1) % size;
        indices[i] = COUNT - 1 - i;
    }
    if (sluice_context_create(MPI_COMM_WORLD, NULL, &context) != SLUICE_SUCCESS ||
        sluice_redistribute(context, blocks, COUNT, sizeof(long), COUNT, ranks, indices, NULL, NULL) !=
            SLUICE_SUCCESS) {
        fprintf(stderr, "rank %d: %s\n", rank, sluice_last_error());
        wrong = COUNT;
    }
    from = (rank + size - 1) % size;
    for (i = 0; i < COUNT; ++i)
        wrong += blocks[COUNT - 1 - i] != (long)from * COUNT + i;
    printf("rank %d of %d: %d of %d blocks are wrong\n", rank, size, wrong, COUNT);
    sluice_context_free(&context);
    MPI_Finalize();
    return wrong != 0;
}
