/* SPDX-License-Identifier: BSD-3-Clause */
// One collective call that is wrong on the last rank, by name. The program continues after an error: each rank writes
// on standard output the class of the error that the wrong call returned, and whether a right call after it works.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int me, ranks, odd;
static int out[4096], in[4096];

int call(char const* name);
int call(char const* name) {
    MPI_Comm const world = MPI_COMM_WORLD;
    int* counts = calloc((size_t)ranks, sizeof *counts);
    int* places = calloc((size_t)ranks, sizeof *places);
    int* bytes = calloc((size_t)ranks, sizeof *bytes);
    MPI_Datatype* types = calloc((size_t)ranks, sizeof(MPI_Datatype));
    for (int i = 0; i < ranks; ++i) {
        counts[i] = 2;
        places[i] = 2 * i;
        bytes[i] = 2 * i * (int)sizeof(int);
        types[i] = MPI_INT;
    }
    int code = -1;
    int const more = odd ? 3 : 2;
    if (strcmp(name, "root") == 0) code = MPI_Bcast(out, 8, MPI_INT, odd ? ranks - 1 : 0, world);
    if (strcmp(name, "count") == 0) code = MPI_Allreduce(out, in, odd ? 9 : 8, MPI_INT, MPI_SUM, world);
    if (strcmp(name, "type") == 0) code = MPI_Bcast(out, 8, odd ? MPI_FLOAT : MPI_INT, 0, world);
    if (strcmp(name, "function") == 0) {
        if (odd)
            code = MPI_Barrier(world);
        else
            code = MPI_Bcast(out, 8, MPI_INT, 0, world);
    }
    if (strcmp(name, "gather") == 0) code = MPI_Gather(out, more, MPI_INT, in, 2, MPI_INT, 0, world);
    if (strcmp(name, "allgather") == 0) code = MPI_Allgather(out, more, MPI_INT, in, 2, MPI_INT, world);
    if (strcmp(name, "gatherv") == 0) code = MPI_Gatherv(out, more, MPI_INT, in, counts, places, MPI_INT, 0, world);
    if (strcmp(name, "scatterv") == 0) code = MPI_Scatterv(out, counts, places, MPI_INT, in, more, MPI_INT, 0, world);
    if (odd) counts[0] = 1;
    if (strcmp(name, "allgatherv") == 0) code = MPI_Allgatherv(out, 2, MPI_INT, in, counts, places, MPI_INT, world);
    if (strcmp(name, "reduce_scatter") == 0) code = MPI_Reduce_scatter(out, in, counts, MPI_INT, MPI_SUM, world);
    if (odd) counts[0] = 3;
    if (strcmp(name, "alltoallv") == 0)
        code = MPI_Alltoallv(out, counts, places, MPI_INT, in, counts, places, MPI_INT, world);
    counts[0] = 2;
    if (odd) types[0] = MPI_FLOAT;
    if (strcmp(name, "alltoallw") == 0)
        code = MPI_Alltoallw(out, counts, bytes, types, in, counts, bytes, types, world);
    free(counts);
    free(places);
    free(bytes);
    free(types);
    return code;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    odd = me == ranks - 1;
    if (argc < 3)
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);  // with a second argument, errors are fatal
    int const code = call(argv[1]);
    int class = MPI_SUCCESS;
    if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
    int sum = 0;
    int const one = 1;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("rank %d: %s, then %s\n", me, class == MPI_ERR_OTHER ? "refused" : "not refused",
           sum == ranks ? "right" : "wrong");
    MPI_Finalize();
    return 0;
}
