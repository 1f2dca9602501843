// SPDX-License-Identifier: BSD-3-Clause
// Writes its results after MPI_Finalize: piped RESULTS. Rank 0 prints a line; once RESULTS.go is there, the ranks go
// on, and each writes RESULTS.RANK, rank 0 without closing it, the others later.
#include <mpi.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static void sleep_ms(long ms) {
    struct timespec const time = {0, ms * 1000000};
    nanosleep(&time, NULL);
}

int main(int argc, char** argv) {
    if (argc != 2) return 3;
    int rank = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        puts("one line");
        fflush(stdout);
    }
    char name[4096];
    snprintf(name, sizeof name, "%s.go", argv[1]);
    while (access(name, F_OK) != 0)
        sleep_ms(1);
    MPI_Finalize();
    sleep_ms(rank == 0 ? 300 : 900);
    snprintf(name, sizeof name, "%s.%d", argv[1], rank);
    FILE* const file = fopen(name, "w");
    if (file == NULL) return 4;
    fputs("result\n", file);
    return 0;
}
