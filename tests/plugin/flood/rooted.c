/* SPDX-License-Identifier: BSD-3-Clause */
// rooted CALLS MOST_KIB: rooted collectives on communicators that are made and freed, beside nonblocking ones, with
// roots that change. Without CALLS few of them; else so many Bcasts to leaves that are slow, whose memory may grow by
// MOST_KIB.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../memory_kib.h"
#include "transcript.h"

enum { k_ints = 200 };

static void one_of_each(MPI_Comm comm, int round) {
    int size = 0;
    int rank = 0;
    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &rank);
    int const root = round % size;
    int data[k_ints];
    int result[k_ints];
    int* const all = room((size_t)size * k_ints * sizeof(int));
    int* const counts = room((size_t)size * sizeof(int));
    int* const places = room((size_t)size * sizeof(int));
    MPI_Request request;
    for (int i = 0; i < size; ++i) {
        counts[i] = (round + i) % k_ints;
        places[i] = i * k_ints;
    }
    fill(data, sizeof data, (unsigned)(rank + round));
    MPI_Ibcast(all, k_ints, MPI_INT, root, comm, &request);
    MPI_Bcast(data, k_ints, MPI_INT, root, comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    say_bytes("bcast", data, sizeof data);
    for (int i = 0; i < k_ints; ++i)
        data[i] = rank + i;
    MPI_Reduce(data, result, k_ints, MPI_INT, MPI_SUM, root, comm);
    if (rank == root) say_ints("reduce", result, 8);
    MPI_Reduce(rank == root ? MPI_IN_PLACE : data, data, k_ints, MPI_INT, MPI_MAX, root, comm);
    MPI_Gather(data, k_ints, MPI_INT, all, k_ints, MPI_INT, root, comm);
    if (rank == root) say_bytes("gather", all, (size_t)size * k_ints * sizeof(int));
    MPI_Scatter(all, k_ints, MPI_INT, rank == root ? MPI_IN_PLACE : data, k_ints, MPI_INT, root, comm);
    if (rank != root) say_bytes("scatter", data, sizeof data);
    memset(all, 0, (size_t)size * k_ints * sizeof(int));
    MPI_Gatherv(data, counts[rank], MPI_INT, all, counts, places, MPI_INT, root, comm);
    if (rank == root) say_bytes("gatherv", all, (size_t)size * k_ints * sizeof(int));
    MPI_Scatterv(all, counts, places, MPI_INT, data, counts[rank], MPI_INT, root, comm);
    say_bytes("scatterv", data, (size_t)counts[rank] * sizeof(int));
    free(places);
    free(counts);
    free(all);
}

static void on_each_communicator(void) {
    for (int round = 0; round < 12; ++round) {
        MPI_Comm split = MPI_COMM_NULL;
        MPI_Comm twin = MPI_COMM_NULL;
        MPI_Comm_split(MPI_COMM_WORLD, me % 2, -me, &split);
        MPI_Comm_dup(MPI_COMM_WORLD, &twin);
        for (int i = 0; i < 10; ++i) {
            one_of_each(MPI_COMM_WORLD, round + i);
            one_of_each(split, round + i);
            one_of_each(twin, round + i);
        }
        MPI_Comm_free(&split);
        MPI_Comm_free(&twin);
    }
}

static void run_ahead(long calls, long most_kib) {
    char data[1024];
    memset(data, me, sizeof data);
    for (int i = 0; i < 300; ++i)
        MPI_Bcast(data, sizeof data, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    long const before = memory_kib();
    for (long i = 0; i < calls; ++i) {
        MPI_Bcast(data, sizeof data, MPI_CHAR, 0, MPI_COMM_WORLD);
        if (me == ranks - 1 && i % 64 == 0) usleep(100);
    }
    long grown = memory_kib() - before;
    long most = 0;
    MPI_Reduce(&grown, &most, 1, MPI_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
    if (me == 0 && most > most_kib) say("grown by %ld KiB, at most %ld KiB were expected", most, most_kib);
    say("compared with the truth: %d wrong", me == 0 && most > most_kib ? 1 : 0);
}

int main(int argc, char** argv) {
    long const calls = argc > 2 ? atol(argv[1]) : 0;
    long const most_kib = argc > 2 ? atol(argv[2]) : 0;
    begin(&argc, &argv);
    if (calls > 0)
        run_ahead(calls, most_kib);
    else
        on_each_communicator();
    return end();
}
