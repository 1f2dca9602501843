/* SPDX-License-Identifier: BSD-3-Clause */
/* By rank and slot, in C: each rank sends its numbers to the next rank, in reverse order and in place. */
#include <sluice/sluice.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 100000 };

int main(int argc, char** argv) {
    int rank, size, i, wrong = 0;
    sluice_context* context = NULL;
    sluice_report* report = NULL;
    double* numbers = malloc(COUNT * sizeof *numbers);
    int* ranks = malloc(COUNT * sizeof *ranks);
    int64_t* indices = malloc(COUNT * sizeof *indices);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (i = 0; i < COUNT; ++i) {
        numbers[i] = rank + (double)i / COUNT;
        ranks[i] = (rank + 1) % size;
        indices[i] = COUNT - 1 - i;
    }
    if (sluice_context_create(MPI_COMM_WORLD, NULL, &context) != SLUICE_SUCCESS ||
        sluice_report_create(&report) != SLUICE_SUCCESS ||
        sluice_redistribute(context, numbers, COUNT, sizeof(double), COUNT, ranks, indices, NULL, report) !=
            SLUICE_SUCCESS)
        fprintf(stderr, "rank %d: %s\n", rank, sluice_last_error());
    for (i = 0; i < COUNT; ++i)
        wrong += numbers[COUNT - 1 - i] != (rank + size - 1) % size + (double)i / COUNT;
    if (rank == 0) printf("%swrong on rank 0: %d\n", sluice_report_text(report), wrong);
    sluice_report_free(&report);
    sluice_context_free(&context);
    free(numbers);
    free(ranks);
    free(indices);
    MPI_Finalize();
    return wrong != 0;
}
