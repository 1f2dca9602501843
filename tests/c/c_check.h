/* SPDX-License-Identifier: BSD-3-Clause */
/* What the test programs in C share: a fault is told with its line and its rank, and the program ends with 1. */
#ifndef SLUICE_TESTS_C_CHECK_H
#define SLUICE_TESTS_C_CHECK_H

#include <inttypes.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sluice/sluice.h"

static int rank, size, faults;

static void expect(int right, char const* what, int line) {
    if (right) return;
    ++faults;
    fprintf(stderr, "rank %d, line %d: %s (%s)\n", rank, line, what, sluice_last_error());
}
#define EXPECT(condition) expect((condition), #condition, __LINE__)
#define OK(call) EXPECT((call) == SLUICE_SUCCESS)
#define REFUSED(call, part) EXPECT((call) == SLUICE_INVALID_ARGUMENT && strstr(sluice_last_error(), (part)) != NULL)

/* A figure that the report must have. */
static inline uint64_t figure(sluice_report const* report, char const* name) {
    uint64_t value = UINT64_MAX;
    if (sluice_report_get(report, name, &value) != SLUICE_SUCCESS) {
        ++faults;
        fprintf(stderr, "rank %d: %s\n", rank, sluice_last_error());
    }
    return value;
}

static inline sluice_key key_of(int owner, uint64_t id, uint64_t epoch) {
    sluice_key key;
    key.owner = owner;
    key.id = id;
    key.epoch = epoch;
    return key;
}

static inline sluice_fetch_request request_of(int owner, uint64_t id, uint64_t epoch, uint64_t bytes) {
    sluice_fetch_request request;
    request.key = key_of(owner, id, epoch);
    request.bytes = bytes;
    return request;
}

static inline sluice_context* begin(int* argc, char*** argv) {
    sluice_context* context = NULL;
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    OK(sluice_context_create(MPI_COMM_WORLD, NULL, &context));
    return context;
}

/* Returns the exit code, which is the same on all ranks. */
static inline int end(sluice_context* context) {
    int all_faults = 0;
    OK(sluice_context_free(&context));
    EXPECT(context == NULL);
    MPI_Allreduce(&faults, &all_faults, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return all_faults != 0;
}

#endif
