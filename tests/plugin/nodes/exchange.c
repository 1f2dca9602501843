/* SPDX-License-Identifier: BSD-3-Clause */
// All-to-alls in place, checked to the last number. They are right if Sluice serves them or MPI does; if the ranks
// disagree about this, the program hangs or is wrong.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int number(int from, int to, int place, int round) {
    return from * 1000003 + to * 101 + place * 7 + round;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int const count = argc > 1 ? atoi(argv[1]) : 100000;
    int rank = 0;
    int size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int* const data = malloc((size_t)count * (size_t)size * sizeof *data);
    long wrong = 0;
    for (int round = 0; round < 3; ++round) {
        for (int peer = 0; peer < size; ++peer)
            for (int i = 0; i < count; ++i)
                data[(size_t)peer * (size_t)count + (size_t)i] = number(rank, peer, i, round);
        MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, count, MPI_INT, MPI_COMM_WORLD);
        for (int peer = 0; peer < size; ++peer)
            for (int i = 0; i < count; ++i)
                wrong += data[(size_t)peer * (size_t)count + (size_t)i] != number(peer, rank, i, round);
    }
    long all = 0;
    MPI_Allreduce(&wrong, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("%d ranks, %ld numbers wrong\n", size, all);
    free(data);
    MPI_Finalize();
    return all != 0;
}
