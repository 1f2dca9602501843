/* SPDX-License-Identifier: BSD-3-Clause */
//= block docs/fetch.md: static int pack(void* user, void* out, uint64_t bytes)
/* A cube of each rank becomes the mean of those of the ranks before and after it. Rank 1 fetches only when all others
 * have its faces, so those that do not wait for their readers change what it gets. */
#include <mpi.h>
#include <sluice/sluice.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = 1000 };
struct face {
    uint64_t bytes;
    double* points;
};
struct cube {
    struct face faces[2]; /* parts of its points */
    sluice_key keys[2];
    sluice_fetch_request requests[2];
    double points[2 * POINTS];
    sluice_store* store;
    sluice_fetch_result* ghosts;
};

static void fail(char const* text) {
    fprintf(stderr, "%s\n", text);
    abort();
}
static void relax_cube(struct cube* cube, double const* left, double const* right) {
    for (int i = 0; i < POINTS; ++i)
        cube->points[i] = cube->points[POINTS + i] = (left[i] + right[i]) / 2;
}
static void note(void* user) {
    *(int*)user = 1;
}
static int is_noted(void* user) {
    return *(int*)user;
}
static int fetch_late(sluice_store* store, sluice_fetch_request const* requests, size_t count,
                      sluice_done_function done, struct cube* cube) {
    int rank, ranks, is_read = 0, faults = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rank == 1 && ranks > 1) {
        faults += sluice_store_when_all_have_them(store, cube->keys, 2, note, &is_read) != SLUICE_SUCCESS;
        faults += sluice_store_wait_until(store, is_noted, &is_read) != SLUICE_SUCCESS;
    }
    faults += sluice_store_fetch_all(store, requests, count, done, cube) != SLUICE_SUCCESS;
    if (faults > 0) fail(sluice_last_error());
    return 0;
}
static double point_of(int rank, int i) {
    return rank * 10000. + i;
}

//= paragraphs 1

int fetch_c(void) {
    static struct cube cubes[1];
    struct cube* const cube = cubes;
    sluice_context* context = NULL;
    int rank, ranks, faults = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int const left = (rank + ranks - 1) % ranks;
    int const right = (rank + 1) % ranks;
    for (int which = 0; which < 2; ++which) { /* face 0 is for the rank on the left, face 1 for the other */
        cube->keys[which].owner = rank;
        cube->keys[which].id = (uint64_t)which;
        cube->faces[which].bytes = POINTS * sizeof(double);
        cube->faces[which].points = cube->points + which * POINTS;
        for (int i = 0; i < POINTS; ++i)
            cube->faces[which].points[i] = point_of(rank, i) + which;
        cube->requests[which].key.owner = which == 0 ? left : right;
        cube->requests[which].key.id = (uint64_t)(1 - which);
        cube->requests[which].bytes = cube->faces[which].bytes;
    }
    faults += sluice_context_create(MPI_COMM_WORLD, NULL, &context) != SLUICE_SUCCESS;
#define sluice_store_fetch_all fetch_late
    //= paragraphs 2
#undef sluice_store_fetch_all
    for (int i = 0; i < POINTS; ++i)
        faults += cube->points[i] != (point_of(left, i) + 1 + point_of(right, i)) / 2;
    faults += sluice_context_free(&context) != SLUICE_SUCCESS;
    return faults;
}
