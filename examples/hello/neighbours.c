/* SPDX-License-Identifier: BSD-3-Clause */
/* Publish and fetch in C: each rank publishes numbers, fetches those of both neighbours with a callback, and prints
 * what the store did. Nothing is copied into a message before a reader has memory for it. */
#include <sluice/sluice.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 100000 };

static int rank, size, wrong;

static void stop(char const* what) {
    fprintf(stderr, "rank %d: %s: %s\n", rank, what, sluice_last_error());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* The set is complete: its data are those of the two requests, in their order. */
static void arrived(void* user, int code, sluice_fetch_result* neighbours) {
    sluice_fetch_request const* const requests = user;
    size_t i;
    if (code != SLUICE_SUCCESS) stop(sluice_error_name(code));
    for (i = 0; i < sluice_fetch_result_count(neighbours); ++i) {
        double const* const numbers = sluice_fetch_result_data(neighbours, i);
        wrong += numbers[COUNT - 1] != requests[i].key.owner * 1000.0 + COUNT - 1;
    }
    sluice_fetch_result_free(&neighbours); /* its memory is free for other fetches */
}

/* Prints all figures that the library knows, also those that later versions add. */
static void print(sluice_report const* report) {
    size_t i;
    for (i = 0; i < sluice_report_size(report); ++i) {
        char const* const name = sluice_report_name(report, i);
        uint64_t value = 0;
        if (sluice_report_get(report, name, &value) == SLUICE_SUCCESS && value > 0)
            printf("%s %llu%s\n", name, (unsigned long long)value,
                   sluice_report_unit(report, i) == SLUICE_UNIT_BYTES ? " bytes" : "");
    }
}

int main(int argc, char** argv) {
    sluice_context* context = NULL;
    sluice_store* store = NULL;
    sluice_report* report = NULL;
    sluice_key own = {0, 1, 0};
    sluice_fetch_request requests[2] = {{{0, 1, 0}, COUNT * sizeof(double)}, {{0, 1, 0}, SLUICE_ANY_BYTES}};
    double* const numbers = malloc(COUNT * sizeof *numbers);
    int i;
    MPI_Init(&argc, &argv);
    if (numbers == NULL || sluice_context_create(MPI_COMM_WORLD, NULL, &context) != SLUICE_SUCCESS ||
        sluice_store_create(context, &store) != SLUICE_SUCCESS || sluice_report_create(&report) != SLUICE_SUCCESS)
        stop("start");
    rank = sluice_context_rank(context);
    size = sluice_context_size(context);
    for (i = 0; i < COUNT; ++i)
        numbers[i] = rank * 1000.0 + i;
    own.owner = rank;
    requests[0].key.owner = (rank + size - 1) % size;
    requests[1].key.owner = (rank + 1) % size;
    if (sluice_store_publish_bytes(store, own, numbers, COUNT * sizeof(double), 2) != SLUICE_SUCCESS) stop("publish");
    if (sluice_store_fetch_all(store, requests, 2, arrived, requests) != SLUICE_SUCCESS) stop("fetch");
    if (sluice_store_finish(store) != SLUICE_SUCCESS) stop("finish"); /* until all ranks have got their data */
    if (sluice_store_report(store, report) != SLUICE_SUCCESS) stop("report");
    if (rank == 0) print(report);
    sluice_report_free(&report);
    sluice_store_free(&store);
    sluice_context_free(&context);
    free(numbers);
    MPI_Finalize();
    return wrong != 0;
}
