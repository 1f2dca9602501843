/* SPDX-License-Identifier: BSD-3-Clause */
/* bands FILE [ROWS]: an ordinary MPI program, of a kind that many are. The ranks compute bands of a picture and send
 * each row to rank 0, which writes them to a file from the top to the bottom:
 *
 *     rank 1 ── rows of the first band ──┐
 *     rank 2 ── rows of the second ──────┼── rank 0: all rows of rank 1, then all rows of rank 2, …
 *     rank 3 ── rows of the third ───────┘
 *
 * While rank 0 writes the first band, the others send on, and the MPI of rank 0 has to keep their rows. Rank 0 prints
 * how much its memory has grown, the seconds, and a sum over all points, the same in each run. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { k_width = 1024, k_most_steps = 24 };

/* The Mandelbrot set: how soon a point leaves the circle. */
static unsigned char shade(double x, double y) {
    double a = 0, b = 0;
    for (int i = 0; i < k_most_steps; ++i) {
        double const next = a * a - b * b + x;
        b = 2 * a * b + y;
        a = next;
        if (a * a + b * b > 4) return (unsigned char)(255 - 10 * i);
    }
    return 0;
}

static void compute(unsigned char* row, long number, long rows) {
    for (int i = 0; i < k_width; ++i)
        row[i] = shade(-2.2 + 3.0 * i / k_width, -1.5 + 3.0 * (double)number / (double)rows);
}

static double resident_mib(void) {
    long pages = 0, resident = 0;
    FILE* const file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%ld %ld", &pages, &resident) != 2) MPI_Abort(MPI_COMM_WORLD, 1);
    fclose(file);
    return (double)resident * 4096 / 1048576;
}

/* Rank 0: all bands, from the top to the bottom. */
static void write_rows(char const* name, long rows, int ranks) {
    double const begin = MPI_Wtime(), before = resident_mib();
    double most = before;
    unsigned long sum = 0;
    FILE* const file = fopen(name, "wb");
    if (file == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
    fprintf(file, "P5 %d %ld 255\n", k_width, rows);
    for (long number = 0; number < rows; ++number) {
        unsigned char row[k_width];
        int const source = 1 + (int)(number * (ranks - 1) / rows);
        MPI_Recv(row, k_width, MPI_UNSIGNED_CHAR, source, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < k_width; ++i)
            sum = sum * 31 + row[i];
        if (fwrite(row, 1, k_width, file) != k_width) MPI_Abort(MPI_COMM_WORLD, 1);
        if (number % 256 == 0 && resident_mib() > most) most = resident_mib();
    }
    if (fclose(file) != 0) MPI_Abort(MPI_COMM_WORLD, 1);
    printf("%ld rows of 1 KiB, rank 0 grew by %.1f MiB, %.2f s, sum %016lx\n", rows, most - before, MPI_Wtime() - begin,
           sum);
}

int main(int argc, char** argv) {
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    long const rows = argc > 2 ? atol(argv[2]) : 24576;
    if (argc < 2 || ranks < 2) {
        if (rank == 0) fprintf(stderr, "bands FILE [ROWS], on at least 2 ranks\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    if (rank == 0) write_rows(argv[1], rows, ranks);
    for (long number = 0; rank > 0 && number < rows; ++number) {
        unsigned char row[k_width];
        if (1 + (int)(number * (ranks - 1) / rows) != rank) continue;
        compute(row, number, rows);
        MPI_Send(row, k_width, MPI_UNSIGNED_CHAR, 0, 0, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
