/* SPDX-License-Identifier: BSD-3-Clause */
// Two nonblocking all-to-alls in place, one after the other, each with a call of MPI before its MPI_Wait.
#include <mpi.h>
#include <stdio.h>

enum { k_most = 16, k_items = 3 };

int main(int argc, char** argv) {
    int rank = 0;
    int size = 0;
    int wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size > k_most) MPI_Abort(MPI_COMM_WORLD, 1);
    for (int round = 0; round < 2; ++round) {
        int data[k_most * k_items];
        int counts[k_most];
        int places[k_most];
        MPI_Datatype types[k_most];
        for (int i = 0; i < size; ++i) {
            counts[i] = k_items;
            places[i] = i * k_items * (int)sizeof(int);
            types[i] = MPI_INT;
            for (int k = 0; k < k_items; ++k)
                data[i * k_items + k] = 100 * rank + i + 1000 * round;
        }
        MPI_Request request;
        MPI_Ialltoallw(MPI_IN_PLACE, NULL, NULL, NULL, data, counts, places, types, MPI_COMM_WORLD, &request);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int i = 0; i < size * k_items; ++i)
            wrong += data[i] != 100 * (i / k_items) + rank + 1000 * round;
    }
    if (wrong != 0) printf("rank %d: %d items wrong\n", rank, wrong);
    if (wrong != 0) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Finalize();
    return 0;
}
