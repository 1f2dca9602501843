/* SPDX-License-Identifier: BSD-3-Clause */
/* 10,000 communicators made and freed: after the first 100, the process may grow by at most 512 kB. */
#include <mpi.h>
#include <stdio.h>

#include "../memory_kib.h"

static void make_and_free(int times) {
    for (int i = 0; i < times; ++i) {
        MPI_Comm made;
        if (i % 2)
            MPI_Comm_dup(MPI_COMM_WORLD, &made);
        else
            MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &made);
        MPI_Comm_free(&made);
    }
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    make_and_free(100);
    long before = memory_kib();
    make_and_free(10000);
    long grown = memory_kib() - before;
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    printf("rank %d grew by %ld KiB\n", rank, grown);
    MPI_Finalize();
    return grown <= 512 ? 0 : 1;
}
