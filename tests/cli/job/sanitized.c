// SPDX-License-Identifier: BSD-3-Clause
// A correct program, built with a sanitizer: messages, an all-to-all in place, and a program that each rank starts.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 1 << 15 };

int main(int argc, char** argv) {
    int rank = 0;
    int size = 0;
    long sum = 0;
    long total = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    size_t const count = (size_t)size * COUNT;
    long* const numbers = malloc(count * sizeof(long));
    long* const received = malloc(count * sizeof(long));
    for (size_t i = 0; i < count; ++i)
        numbers[i] = rank + (long)i;
    for (int round = 0; round < 3; ++round) {
        MPI_Sendrecv(numbers, (int)count, MPI_LONG, (rank + 1) % size, 0, received, (int)count, MPI_LONG,
                     (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, numbers, COUNT, MPI_LONG, MPI_COMM_WORLD);
    }
    for (size_t i = 0; i < count; ++i)
        sum += numbers[i] + received[i];
    MPI_Allreduce(&sum, &total, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("sum %ld\n", total);
    free(numbers);
    free(received);
    MPI_Finalize();
    return system("true") == 0 ? 0 : 1;
}
