/* SPDX-License-Identifier: BSD-3-Clause */
/* Built twice, with two names of the function: else both libraries are alike to the byte. */
#include <mpi.h>

void CALLS(int number);
void CALLS(int number) {
    int rank;
    for (int i = 0; i < number; ++i) {
        MPI_Request request;
        MPI_Irecv(&rank, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}
