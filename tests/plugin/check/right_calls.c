/* SPDX-License-Identifier: BSD-3-Clause */
// Calls that are right although their arguments differ between ranks: types of one signature, packed data, arguments
// that are significant at the root only, sizes of each pair, in place, no data, communicators of some ranks. If a
// number of repetitions is given, it prints the time of a call instead.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int me, ranks, failed;

static void right(int condition, char const* what) {
    if (condition) return;
    ++failed;
    printf("rank %d: %s is wrong\n", me, what);
}

static void types_of_one_signature(MPI_Comm comm) {
    MPI_Datatype three;
    MPI_Type_vector(3, 1, 2, MPI_INT, &three);
    MPI_Type_commit(&three);
    int data[12] = {0};
    for (int i = 0; i < 12 && me == 0; ++i)
        data[i] = i + 1;
    right((me == 0 ? MPI_Bcast(data, 3, MPI_INT, 0, comm) : MPI_Bcast(data, 1, three, 0, comm)) == MPI_SUCCESS &&
              data[me == 0 ? 2 : 4] == 3,
          "a broadcast of one signature");
    MPI_Type_free(&three);
    char packed[64];
    int position = 0;
    int numbers[2] = {5, 6};
    if (me == 0) {
        MPI_Pack(numbers, 2, MPI_INT, packed, sizeof packed, &position, comm);
        MPI_Bcast(packed, position, MPI_PACKED, 0, comm);
    } else {
        numbers[0] = numbers[1] = 0;
        MPI_Bcast(numbers, 2, MPI_INT, 0, comm);
    }
    right(numbers[1] == 6, "a broadcast of packed data");
}

static void only_the_root_tells(MPI_Comm comm) {
    int* parts = calloc(2 * (size_t)ranks, sizeof *parts);
    int* counts = calloc((size_t)ranks, sizeof *counts);
    int* places = calloc((size_t)ranks, sizeof *places);
    int mine[2] = {me, me};
    for (int i = 0; i < ranks; ++i) {
        counts[i] = i % 3 == 1 ? 0 : 1 + i % 2;
        places[i] = 2 * i;
    }
    int const count = counts[me];
    int const root = ranks - 1;
    right(MPI_Gather(mine, 1, MPI_INT, parts, me == root ? 1 : -7, me == root ? MPI_INT : MPI_CHAR, root, comm) ==
              MPI_SUCCESS,
          "a gather");
    if (me == root)
        MPI_Gatherv(MPI_IN_PLACE, 0, MPI_CHAR, parts, counts, places, MPI_INT, root, comm);
    else
        MPI_Gatherv(mine, count, count == 0 ? MPI_DOUBLE : MPI_INT, NULL, NULL, NULL, MPI_DATATYPE_NULL, root, comm);
    if (me == root)
        MPI_Scatterv(parts, counts, places, MPI_INT, MPI_IN_PLACE, 0, MPI_CHAR, root, comm);
    else
        MPI_Scatterv(NULL, NULL, NULL, MPI_DATATYPE_NULL, mine, count, MPI_INT, root, comm);
    right(count == 0 || mine[0] == me, "what came back");
    free(parts);
    free(counts);
    free(places);
}

static void sizes_of_pairs(MPI_Comm comm) {
    int size = 0;
    int rank = 0;
    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &rank);
    int* data = calloc(6 * (size_t)size, sizeof *data);
    int* got = calloc(6 * (size_t)size, sizeof *got);
    int* counts = calloc((size_t)size, sizeof *counts);
    int* places = calloc((size_t)size, sizeof *places);
    for (int i = 0; i < size; ++i) {
        counts[i] = (i + rank) % 4;
        places[i] = 6 * i;
        data[6 * i] = 100 * rank + i;
    }
    MPI_Alltoallv(data, counts, places, MPI_INT, got, counts, places, MPI_INT, comm);
    for (int i = 0; i < size; ++i)
        right(counts[i] == 0 || got[6 * i] == 100 * i + rank, "an all-to-all");
    right(
        MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, data, counts, places, MPI_INT, comm) == MPI_SUCCESS,
        "an all-to-all in place");
    right(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, 2, MPI_INT, comm) == MPI_SUCCESS, "in place");
    free(data);
    free(got);
    free(counts);
    free(places);
}

static void all(MPI_Comm comm) {
    sizes_of_pairs(comm);
    MPI_Barrier(comm);
}

static double each(int times, int vector) {
    int* data = calloc(2 * (size_t)ranks, sizeof *data);
    int* counts = calloc((size_t)ranks, sizeof *counts);
    int* places = calloc((size_t)ranks, sizeof *places);
    for (int i = 0; i < ranks; ++i) {
        counts[i] = 1;
        places[i] = i;
    }
    double const start = MPI_Wtime();
    for (int i = 0; i < times; ++i)
        if (vector)
            MPI_Alltoallv(data, counts, places, MPI_INT, data + ranks, counts, places, MPI_INT, MPI_COMM_WORLD);
        else
            MPI_Allreduce(data, data + 1, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    double const took = (MPI_Wtime() - start) / times * 1e6;
    free(data);
    free(counts);
    free(places);
    return took;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc > 1) {
        int const times = atoi(argv[1]);
        each(times / 10, 0);
        double const reduction = each(times, 0);
        double const pairs = each(times, 1);
        if (me == 0) printf("MPI_Allreduce %.2f us, MPI_Alltoallv %.2f us\n", reduction, pairs);
        MPI_Finalize();
        return 0;
    }
    types_of_one_signature(MPI_COMM_WORLD);
    only_the_root_tells(MPI_COMM_WORLD);
    all(MPI_COMM_WORLD);
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, me % 2, -me, &half);
    all(half);
    MPI_Comm twin;
    MPI_Comm_dup(half, &twin);
    all(twin);
    MPI_Comm_free(&twin);
    MPI_Comm_free(&half);
    printf("rank %d: %d wrong\n", me, failed);
    MPI_Finalize();
    return failed != 0;
}
