/* SPDX-License-Identifier: BSD-3-Clause */
// wire [BYTES ROUNDS [at_once | started]]: receives a large message from the other node and computes something else
// before it looks at the data, as many programs do; at_once: looks at them at once; started: starts the receive,
// computes for half of the time, waits, and computes the rest. Rank 0 prints how long it waited in MPI's calls and for
// the data.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double compute(long steps) {
    double x = 1;
    for (long i = 0; i < steps; ++i)
        x = x * 1.0000001 + 0.0000001;
    return x;
}

// So many steps take about as long as the message.
static long steps_for(double seconds) {
    long const some = 2000000;
    double const begin = MPI_Wtime();
    double const x = compute(some);
    double const each = (MPI_Wtime() - begin) / (double)some;
    return x > 0 ? (long)(seconds / each) : 0;
}

int main(int argc, char** argv) {
    int me = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    int const bytes = argc > 1 ? atoi(argv[1]) : 8 << 20;
    int const rounds = argc > 2 ? atoi(argv[2]) : 8;
    unsigned char* data = malloc((size_t)bytes);
    long sum = 0;
    double waited = 0;
    double x = 0;
    int const starts = argc > 3 && strcmp(argv[3], "started") == 0;
    long const steps = argc > 3 && !starts ? 0 : steps_for((double)bytes * 8 / 1e9);
    for (int round = 0; round < rounds; ++round) {
        if (me == 1) {
            for (int i = 0; i < bytes; ++i)
                data[i] = (unsigned char)(i * 7 + round);
            MPI_Send(data, bytes, MPI_BYTE, 0, round, MPI_COMM_WORLD);
        } else if (me == 0) {
            MPI_Request request = MPI_REQUEST_NULL;
            if (starts) {
                MPI_Irecv(data, bytes, MPI_BYTE, 1, round, MPI_COMM_WORLD, &request);
                x += compute(steps / 2);
            }
            double const begin = MPI_Wtime();
            if (starts)
                MPI_Wait(&request, MPI_STATUS_IGNORE);
            else
                MPI_Recv(data, bytes, MPI_BYTE, 1, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            waited += MPI_Wtime() - begin;
            x += compute(starts ? steps - steps / 2 : steps);
            double const touch = MPI_Wtime();
            sum += data[0];
            waited += MPI_Wtime() - touch;
            for (int i = 0; i < bytes; ++i)
                sum += data[i] != (unsigned char)(i * 7 + round);
        }
    }
    if (me == 0) printf("sum %ld, computed %d, waited %.6f s\n", sum, x > 0, waited);
    free(data);
    MPI_Finalize();
    return 0;
}
