/* SPDX-License-Identifier: BSD-3-Clause */
// MPI_IN_PLACE in every call that allows it. The kinds of all-to-all in which plain MPI is wrong are in
// inplace_truth.c.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "transcript.h"

// Returns item k of the block that rank a holds for rank b.
static int item(int a, int b, int k) {
    return a * 1000003 + b * 7919 + k * 31 + 1;
}

static int both_forms(char const* name, int blocking_code, MPI_Request* request) {
    called(name, blocking_code);
    if (request == NULL) return 0;
    MPI_Status status = untouched_status();
    called("wait", MPI_Wait(request, &status));
    say("MPI_ERROR untouched: %d, null: %d", status.MPI_ERROR == k_untouched, *request == MPI_REQUEST_NULL);
    return 0;
}

static void alltoall(int each) {
    size_t bytes = sizeof(int) * (size_t)each * (size_t)ranks;
    int* data = room(bytes + 32);
    for (int form = 0; form < 2; ++form) {
        for (int b = 0; b < ranks; ++b) {
            for (int k = 0; k < each; ++k)
                data[b * each + k] = item(me, b, k);
        }
        memset((char*)data + bytes, 0x5A, 32);
        MPI_Request request = MPI_REQUEST_NULL;
        if (form == 0) {
            CALL(MPI_Alltoall(MPI_IN_PLACE, -3, MPI_DATATYPE_NULL, data, each, MPI_INT, MPI_COMM_WORLD));
        } else {
            int code = MPI_Ialltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, each, MPI_INT, MPI_COMM_WORLD, &request);
            both_forms("MPI_Ialltoall", code, &request);
        }
        int wrong = 0;
        for (int a = 0; a < ranks; ++a) {
            for (int k = 0; k < each; ++k)
                wrong += data[a * each + k] != item(a, me, k);
        }
        for (int k = 0; k < 32; ++k)
            wrong += ((char*)data)[bytes + (size_t)k] != 0x5A;
        say("alltoall %d ints a pair: truth %d wrong", each, wrong);
        say_bytes("result", data, bytes);
    }
    free(data);
}

// The reductions and gathers; each result is also compared with plain runs bit by bit.
static void others(int each) {
    int total = each * ranks;
    size_t bytes = sizeof(double) * (size_t)total;
    double* data = room(bytes);
    int* counts = room(sizeof(int) * (size_t)ranks);
    int* places = room(sizeof(int) * (size_t)ranks);
    MPI_Comm const world = MPI_COMM_WORLD;
    int last = ranks - 1;
    for (int i = 0; i < ranks; ++i) {
        counts[i] = i % 2 == 0 ? each : each / 2;
        places[i] = i * each;
    }
    void* place = MPI_IN_PLACE;
    // MPICH 4.0.2 crashes with MPI_IN_PLACE in an MPI_Reduce of 8000 bytes to another root than 0.
    void* reduce_out = me == 0 ? place : data;
    void* reduce_in = me == 0 ? data : NULL;
    void* send = me == last ? place : data;
    void* receive = me == last ? data : NULL;
#define FRESH()                     \
    for (int j = 0; j < total; ++j) \
    data[j] = (double)((me * 37 + j * 11) % 101) / 3.0
#define FORMS(name, nonblocking, ...)                                                        \
    do {                                                                                     \
        MPI_Request request = MPI_REQUEST_NULL;                                              \
        FRESH();                                                                             \
        called("MPI_" #name, MPI_##name(__VA_ARGS__));                                       \
        say_bytes("result", data, bytes);                                                    \
        FRESH();                                                                             \
        both_forms("MPI_" #nonblocking, MPI_##nonblocking(__VA_ARGS__, &request), &request); \
        say_bytes("result", data, bytes);                                                    \
    } while (0)
    FORMS(Allreduce, Iallreduce, place, data, total, MPI_DOUBLE, MPI_SUM, world);
    FORMS(Reduce, Ireduce, reduce_out, reduce_in, total, MPI_DOUBLE, MPI_SUM, 0, world);
    FORMS(Allgather, Iallgather, place, 0, MPI_DATATYPE_NULL, data, each, MPI_DOUBLE, world);
    FORMS(Allgatherv, Iallgatherv, place, 0, MPI_DATATYPE_NULL, data, counts, places, MPI_DOUBLE, world);
    FORMS(Gather, Igather, send, each, MPI_DOUBLE, receive, each, MPI_DOUBLE, last, world);
    FORMS(Gatherv, Igatherv, send, counts[me], MPI_DOUBLE, receive, counts, places, MPI_DOUBLE, last, world);
    FORMS(Scatter, Iscatter, receive, each, MPI_DOUBLE, send, each, MPI_DOUBLE, last, world);
    FORMS(Scatterv, Iscatterv, receive, counts, places, MPI_DOUBLE, send, counts[me], MPI_DOUBLE, last, world);
    FORMS(Reduce_scatter_block, Ireduce_scatter_block, place, data, each, MPI_DOUBLE, MPI_SUM, world);
    FORMS(Reduce_scatter, Ireduce_scatter, place, data, counts, MPI_DOUBLE, MPI_SUM, world);
    FORMS(Scan, Iscan, place, data, total, MPI_DOUBLE, MPI_SUM, world);
    FORMS(Exscan, Iexscan, place, data, total, MPI_DOUBLE, MPI_MAX, world);
    free(data);
    free(counts);
    free(places);
}

int main(int argc, char** argv) {
    begin(&argc, &argv);
    int const sizes[] = {0, 1, 2, 7, 100, 4096, 16384, 65536, 262144, 1048576};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
        if (ranks <= 4 || sizes[i] <= 262144) alltoall(sizes[i]);
    }
    others(3);
    others(5000);
    return end();
}
