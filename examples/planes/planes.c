/* SPDX-License-Identifier: BSD-3-Clause */
/* planes [STEPS [SIDE [PLANES]]]: an ordinary MPI program, of a kind that many simulations are. A field of SIDE x SIDE
 * x PLANES points a rank; in each step a rank exchanges its outer planes with the ranks next to it and computes the
 * planes between them meanwhile:
 *
 *     MPI_Irecv, MPI_Isend ── inner planes ── MPI_Waitall ── outer planes
 *
 * Over tcp nothing moves while a rank computes, so both times add up. Rank 0 prints the seconds of the steps, and a sum
 * over all points, the same in each run. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static size_t side = 1024, planes = 8;

static double* new_plane(void) {
    double* plane = malloc(side * side * sizeof *plane);
    if (plane == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
    return plane;
}

/* Diffusion and a reaction, at the inner points of a plane. */
static void compute(double const* below, double const* here, double const* above, double* next) {
    for (size_t i = 1; i + 1 < side; ++i)
        for (size_t j = 1; j + 1 < side; ++j) {
            size_t const k = i * side + j;
            double const around =
                here[k - 1] + here[k + 1] + here[k - side] + here[k + side] + below[k] + above[k] - 6 * here[k];
            next[k] = here[k] + 0.1 * around + 1e-3 * exp(-here[k]) * (1 - here[k]);
        }
}

static void fill(double* plane, size_t number) {
    for (size_t k = 0; k < side * side; ++k)
        plane[k] = (double)((k * 7 + number * 13) % 101) / 101;
}

int main(int argc, char** argv) {
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int const steps = argc > 1 ? atoi(argv[1]) : 20;
    if (argc > 2) side = (size_t)atoi(argv[2]);
    if (argc > 3) planes = (size_t)atoi(argv[3]);
    int const below = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    int const above = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
    int const count = (int)(side * side);

    /* Plane 0 and plane `planes` + 1 are those of the neighbours. */
    double** now = malloc((planes + 2) * sizeof *now);
    double** next = malloc((planes + 2) * sizeof *next);
    for (size_t p = 0; p < planes + 2; ++p) {
        now[p] = new_plane();
        next[p] = new_plane();
        fill(now[p], p + (size_t)rank * planes);
        fill(next[p], p + (size_t)rank * planes);
    }

    MPI_Barrier(MPI_COMM_WORLD);
    double const begin = MPI_Wtime();
    for (int step = 0; step < steps; ++step) {
        MPI_Request requests[4];
        MPI_Irecv(now[0], count, MPI_DOUBLE, below, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(now[planes + 1], count, MPI_DOUBLE, above, 1, MPI_COMM_WORLD, &requests[1]);
        MPI_Isend(now[1], count, MPI_DOUBLE, below, 1, MPI_COMM_WORLD, &requests[2]);
        MPI_Isend(now[planes], count, MPI_DOUBLE, above, 0, MPI_COMM_WORLD, &requests[3]);
        for (size_t p = 2; p < planes; ++p)
            compute(now[p - 1], now[p], now[p + 1], next[p]);
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
        compute(now[0], now[1], now[2], next[1]);
        if (planes > 1) compute(now[planes - 1], now[planes], now[planes + 1], next[planes]);
        double** const swap = now;
        now = next;
        next = swap;
    }
    double seconds = MPI_Wtime() - begin;

    double sum = 0, sums = 0;
    for (size_t p = 1; p <= planes; ++p)
        for (size_t k = 0; k < side * side; ++k)
            sum += now[p][k];
    MPI_Reduce(&sum, &sums, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%d steps, %.3f s, sum %.10e\n", steps, seconds, sums);
    for (size_t p = 0; p < planes + 2; ++p) {
        free(now[p]);
        free(next[p]);
    }
    free(now);
    free(next);
    MPI_Finalize();
    return 0;
}
