/* SPDX-License-Identifier: BSD-3-Clause */
// All-to-alls in place with every type that mpi.h names, with those that MPI makes on request (MPI_Type_create_f90_…)
// and with references that MPI_Type_get_contents gave. The last rank spells the type in another way, and all must take
// the same path. And what completion says of MPI_Ialltoallw in place.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "transcript.h"

enum { k_bytes_each = 96 << 10 };  // for each pair: enough that two ranks are served

// Every rank sends bytes, as `count` of `type` for each pair.
static void exchange(char const* name, int count, MPI_Datatype type, size_t bytes_each) {
    size_t const bytes = bytes_each * (size_t)ranks;
    char* const data = room(bytes);
    char* const expected = room(bytes);
    int* const counts = room(sizeof(int) * (size_t)ranks);
    int* const places = room(sizeof(int) * (size_t)ranks);
    fill(data, bytes, (unsigned)me);
    MPI_Alltoall(data, (int)bytes_each, MPI_BYTE, expected, (int)bytes_each, MPI_BYTE, MPI_COMM_WORLD);
    for (int i = 0; i < ranks; ++i) {
        counts[i] = count;
        places[i] = i * count;
    }
    called(name,
           MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, data, counts, places, type, MPI_COMM_WORLD));
    say("truth %d wrong", memcmp(data, expected, bytes) != 0);
    free(data);
    free(expected);
    free(counts);
    free(places);
}

// The last rank has half as many pairs of the type.
static void walk(char const* name, MPI_Datatype type) {
    int size = 0;
    MPI_Aint low = 0;
    MPI_Aint extent = 0;
    if (type == MPI_DATATYPE_NULL) return;
    MPI_Type_size(type, &size);
    MPI_Type_get_extent(type, &low, &extent);
    if (size == 0 || extent != size || low != 0) return;  // with gaps the bytes between are no data
    int const count = 2 * (k_bytes_each / size / 2);
    MPI_Datatype pair;
    MPI_Type_contiguous(2, type, &pair);
    MPI_Type_commit(&pair);
    int of_pair = 0;
    MPI_Type_size(pair, &of_pair);
    if (of_pair != 2 * size) {  // MPICH 4.0.2: nothing can be made of MPIX_C_FLOAT16
        MPI_Type_free(&pair);
        return;
    }
    int const is_last = me == ranks - 1;
    exchange(name, is_last ? count / 2 : count, is_last ? pair : type, (size_t)count * (size_t)size);
    MPI_Type_free(&pair);
}

static void named(void) {
#define TYPE(name) walk(#name, name);
#include "types_of_mpi.h"
    MPI_Datatype made = MPI_DATATYPE_NULL;
    MPI_Type_create_f90_real(15, MPI_UNDEFINED, &made);
    walk("f90_real", made);
    MPI_Type_create_f90_complex(15, MPI_UNDEFINED, &made);
    walk("f90_complex", made);
    MPI_Type_create_f90_integer(9, &made);
    walk("f90_integer", made);
}

#ifdef MPICH_VERSION
// MPICH takes such a number for a type of its own, of 8 bytes, and moves none.
static void unnamed(void) {
    MPI_Datatype const type = (MPI_Datatype)0x4c0008ff;
    int const n = ranks * k_bytes_each / 8;
    char* const data = room((size_t)n * 8);
    fill(data, (size_t)n * 8, (unsigned)me);
    CALL(MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, k_bytes_each / 8, type, MPI_COMM_WORLD));
    CALL(MPI_Bcast(data, 4, type, 0, MPI_COMM_WORLD));
    free(data);
}
#endif

// One rank uses a reference that it got, another one that it made. `keeps`: whether the first handle stays.
static void contents(int keeps) {
    MPI_Datatype three;
    MPI_Datatype copy;
    MPI_Datatype outer;
    MPI_Type_contiguous(3, MPI_INT, &three);
    MPI_Type_commit(&three);
    MPI_Type_dup(three, &copy);
    int one = 1;
    MPI_Aint place = 0;
    MPI_Type_create_struct(1, &one, &place, me == 0 ? &copy : &three, &outer);
    int integers[4];
    MPI_Aint addresses[4];
    MPI_Datatype got[4];
    MPI_Type_get_contents(outer, 2, 1, 1, integers, addresses, got);
    MPI_Type_free(&outer);
    MPI_Type_free(&copy);
    if (!keeps) MPI_Type_free(&three);
    MPI_Datatype const used = me == ranks - 1 && keeps ? three : got[0];
    exchange("got", k_bytes_each / 12, used, k_bytes_each / 12 * 12);
    if (keeps) MPI_Type_free(&three);
    MPI_Type_free(&got[0]);
}

enum { k_ways = 7, k_open = 3 };

static void say_all(char const* what, MPI_Status const* statuses) {
    say_status(what, &statuses[0], MPI_INT);
    // Of a nonblocking collective call both MPIs give the source, tag and count of whatever the memory was before.
    say("%s: MPI_ERROR %d", what, statuses[1].MPI_ERROR);
    say_status(what, &statuses[2], MPI_INT);
}

// The request is the second of three.
static void completed(int way) {
    size_t const n = (size_t)ranks;
    int* const data = room(sizeof(int) * 100 * n);
    int* const counts = room(sizeof(int) * n);
    int* const places = room(sizeof(int) * n);
    MPI_Datatype* const types = room(sizeof(MPI_Datatype) * n);
    for (int i = 0; i < ranks; ++i) {
        counts[i] = 100;
        places[i] = i * 100 * (int)sizeof(int);
        types[i] = MPI_INT;
    }
    fill(data, sizeof(int) * 100 * n, (unsigned)me);
    MPI_Request open[k_open] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status statuses[k_open];
    for (int i = 0; i < k_open; ++i)
        statuses[i] = untouched_status();
    MPI_Ialltoallw(MPI_IN_PLACE, NULL, NULL, NULL, data, counts, places, types, MPI_COMM_WORLD, &open[1]);
    int done = 0;
    int index = 0;
    int indices[k_open];
    switch (way) {
        case 0:
            CALL(MPI_Wait(&open[1], &statuses[1]));
            break;
        case 1:
            while (done == 0)
                MPI_Test(&open[1], &done, &statuses[1]);
            break;
        case 2:
            CALL(MPI_Waitall(k_open, open, statuses));
            break;
        case 3:
            CALL(MPI_Waitany(k_open, open, &index, &statuses[1]));
            break;
        case 4:
            CALL(MPI_Waitsome(k_open, open, &done, indices, &statuses[1]));
            break;
        case 5:
            while (done == 0)
                MPI_Testall(k_open, open, &done, statuses);
            break;
        default:
            while (done == 0)
                MPI_Request_get_status(open[1], &done, &statuses[1]);
#ifdef MPICH_VERSION
            say_status("asked", &statuses[1], MPI_INT);
#endif
            CALL(MPI_Wait(&open[1], &statuses[1]));
    }
    say("way %d: done %d, index %d, null %d", way, done, index, open[1] == MPI_REQUEST_NULL);
    say_all("status", statuses);
    say_bytes("data", data, sizeof(int) * 100 * n);
    free(data);
    free(counts);
    free(places);
    free(types);
}

int main(int argc, char** argv) {
    begin(&argc, &argv);
    named();
#ifdef MPICH_VERSION
    if (ranks > 1) unnamed();  // MPICH ends one rank itself
#endif
    contents(0);
    contents(1);
    for (int way = 0; way < k_ways; ++way)
        completed(way);
    return end();
}
