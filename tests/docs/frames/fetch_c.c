/* SPDX-License-Identifier: BSD-3-Clause */
//= block docs/fetch.md: static int pack(void* user, void* out, uint64_t bytes)
/* A cube of each rank is the mean of the faces of the ranks before and after it. */
#include <mpi.h>
#include <sluice/sluice.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = 1000 };
struct face {
    sluice_key key;
    uint64_t bytes;
    double points[POINTS];
};
struct cube {
    struct face faces[2];
    sluice_fetch_request requests[2];
    double points[POINTS];
};

static void fail(char const* text) {
    fprintf(stderr, "%s\n", text);
    abort();
}
static void relax_cube(struct cube* cube, double const* left, double const* right) {
    for (int i = 0; i < POINTS; ++i)
        cube->points[i] = (left[i] + right[i]) / 2;
}
static double point_of(int rank, int i) {
    return rank * 10000. + i;
}

//= paragraphs 1

int fetch_c(void) {
    static struct cube cubes[1];
    struct cube* const cube = cubes;
    sluice_context* context = NULL;
    sluice_store* store = NULL;
    int rank, ranks, faults = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int const left = (rank + ranks - 1) % ranks;
    int const right = (rank + 1) % ranks;
    for (int which = 0; which < 2; ++which) { /* face 0 is for the rank on the left, face 1 for the other */
        cube->faces[which].key.owner = rank;
        cube->faces[which].key.id = (uint64_t)which;
        cube->faces[which].bytes = sizeof cube->faces[which].points;
        for (int i = 0; i < POINTS; ++i)
            cube->faces[which].points[i] = point_of(rank, i) + which;
        cube->requests[which].key.owner = which == 0 ? left : right;
        cube->requests[which].key.id = (uint64_t)(1 - which);
        cube->requests[which].bytes = sizeof cube->faces[which].points;
    }
    faults += sluice_context_create(MPI_COMM_WORLD, NULL, &context) != SLUICE_SUCCESS;
    //= paragraphs 2
    for (int i = 0; i < POINTS; ++i)
        faults += cube->points[i] != (point_of(left, i) + 1 + point_of(right, i)) / 2;
    faults += sluice_context_free(&context) != SLUICE_SUCCESS;
    return faults;
}
