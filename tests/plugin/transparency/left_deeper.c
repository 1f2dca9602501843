/* SPDX-License-Identifier: BSD-3-Clause */
// An error handler leaves MPI by longjmp, on rank 0 or, with the argument "all", on all ranks, and MPI_Finalize is
// called from a deeper frame, which has written on little of the stack that the handler left.
#include <mpi.h>
#include <setjmp.h>
#include <stdio.h>

static jmp_buf back;

static void leaves(MPI_Comm* comm, int* code, ...) {
    (void)comm;
    (void)code;
    longjmp(back, 1);
}

__attribute__((noinline)) static int finish(void) {
    char volatile unwritten[16384];
    unwritten[0] = 0;
    int const code = MPI_Finalize();
    return code + unwritten[0];
}

int main(int argc, char** argv) {
    static int rank;
    MPI_Errhandler handler;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_create_errhandler(leaves, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    if ((rank == 0 || argc > 1) && setjmp(back) == 0) MPI_Send(&rank, -1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    int const code = finish();
    printf("rank %d ended %d\n", rank, code);
    return 0;
}
