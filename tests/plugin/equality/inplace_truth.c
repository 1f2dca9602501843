/* SPDX-License-Identifier: BSD-3-Clause */
// In-place all-to-alls of every kind. Their results are compared with right results computed here ("truth" in the
// transcript), because both MPIs are wrong in some: MPICH 4.0.2 in MPI_Ialltoallw if the two sides construct their
// types differently, and in both forms of MPI_Alltoall of structs from 30 KiB for each pair on; Open MPI 4.1.4 in
// MPI_Ialltoallv if a rank's count for itself is 0. Sizes go from nothing to 4 MiB for each pair.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "transcript.h"

// Returns item k of the block that rank a holds for rank b.
static int item(int a, int b, int k) {
    return a * 1000003 + b * 7919 + k * 31 + 1;
}

// Under the layer the nonblocking forms remain those of the MPI library, with their faults, except MPI_Ialltoallw of
// MPICH: this call and the blocking forms must be right under the layer.
static int forms(void) {
    return getenv("EQUALITY_SERVED_ONLY") != NULL ? 1 : 2;
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
    for (int form = 0; form < forms(); ++form) {
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

// Counts are equal in both directions and 0 for some pairs; blocks are in another order than the ranks, with gaps.
static void alltoallv(int unit) {
    int* counts = room(sizeof(int) * (size_t)ranks);
    int* places = room(sizeof(int) * (size_t)ranks);
    int slot = 4 * unit + 3;
    int total = slot * ranks;
    int* data = room(sizeof(int) * (size_t)total);
    for (int i = 0; i < ranks; ++i) {
        counts[i] = (me + i) % 5 == 1 ? 0 : unit * (1 + (me * i) % 4);
        places[i] = (ranks - 1 - i) * slot + 1;
    }
    for (int form = 0; form < forms(); ++form) {
        for (int k = 0; k < total; ++k)
            data[k] = -7;
        for (int b = 0; b < ranks; ++b) {
            for (int k = 0; k < counts[b]; ++k)
                data[places[b] + k] = item(me, b, k);
        }
        MPI_Request request = MPI_REQUEST_NULL;
        if (form == 0) {
            CALL(MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, data, counts, places, MPI_INT,
                               MPI_COMM_WORLD));
        } else {
            int code = MPI_Ialltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, data, counts, places, MPI_INT,
                                      MPI_COMM_WORLD, &request);
            both_forms("MPI_Ialltoallv", code, &request);
        }
        int wrong = 0;
        int gaps = 0;
        for (int a = 0; a < ranks; ++a) {
            for (int k = 0; k < counts[a]; ++k)
                wrong += data[places[a] + k] != item(a, me, k);
            for (int k = counts[a]; k < slot - 1; ++k)
                gaps += data[places[a] + k] != -7;
        }
        say("alltoallv unit %d: truth %d wrong, %d gaps written", unit, wrong, gaps);
    }
    free(counts);
    free(places);
    free(data);
}

// Returns the type of the pair (me, peer): the signature is the same on both sides, the construction differs.
static MPI_Datatype pair_type(int peer, int* count, int items) {
    MPI_Datatype type;
    if (me < peer) {  // every second int
        MPI_Type_vector(items, 1, 2, MPI_INT, &type);
        *count = 1;
    } else if (me > peer) {  // ints one by one, three apart
        MPI_Type_create_resized(MPI_INT, 0, 3 * (MPI_Aint)sizeof(int), &type);
        *count = items;
    } else {
        MPI_Type_dup(MPI_INT, &type);
        *count = items;
    }
    MPI_Type_commit(&type);
    return type;
}

static int stride_to(int peer) {
    return me < peer ? 2 : me > peer ? 3 : 1;
}

static void alltoallw(int items) {
    size_t n = (size_t)ranks;
    int* counts = room(sizeof(int) * n);
    int* places = room(sizeof(int) * n);
    MPI_Datatype* types = room(sizeof(MPI_Datatype) * n);
    int slot = 3 * items + 1;
    int total = slot * ranks;
    int* data = room(sizeof(int) * (size_t)total);
    for (int i = 0; i < ranks; ++i) {
        types[i] = pair_type(i, &counts[i], items);
        places[i] = i * slot * (int)sizeof(int);
    }
    for (int form = 0; form < 2; ++form) {
        for (int k = 0; k < total; ++k)
            data[k] = -9;
        for (int b = 0; b < ranks; ++b) {
            for (int k = 0; k < items; ++k)
                data[b * slot + k * stride_to(b)] = item(me, b, k);
        }
        MPI_Request request = MPI_REQUEST_NULL;
        if (form == 0) {
            CALL(MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, data, counts, places, types, MPI_COMM_WORLD));
        } else {
            int code =
                MPI_Ialltoallw(MPI_IN_PLACE, NULL, NULL, NULL, data, counts, places, types, MPI_COMM_WORLD, &request);
            both_forms("MPI_Ialltoallw", code, &request);
        }
        int wrong = 0;
        int gaps = 0;
        for (int a = 0; a < ranks; ++a) {
            for (int k = 0; k < slot; ++k) {
                int step = stride_to(a);
                int used = k % step == 0 && k / step < items;
                if (used) {
                    wrong += data[a * slot + k] != item(a, me, k / step);
                } else {
                    gaps += data[a * slot + k] != -9;
                }
            }
        }
        say("%s %d ints a pair: truth %d wrong, %d gaps written", form == 0 ? "alltoallw" : "ialltoallw", items, wrong,
            gaps);
    }
    for (int i = 0; i < ranks; ++i)
        MPI_Type_free(&types[i]);
    free(counts);
    free(places);
    free(types);
    free(data);
}

// A struct with a gap, and a type whose lower bound is negative, both in MPI_Alltoall.
static void derived(int count) {
    typedef struct {
        char letter;
        double number;
        short small[3];
    } Record;
    MPI_Datatype fields[3] = {MPI_CHAR, MPI_DOUBLE, MPI_SHORT};
    int lengths[3] = {1, 1, 3};
    MPI_Aint offsets[3] = {offsetof(Record, letter), offsetof(Record, number), offsetof(Record, small)};
    MPI_Datatype tight;
    MPI_Datatype record;
    MPI_Type_create_struct(3, lengths, offsets, fields, &tight);
    MPI_Type_create_resized(tight, 0, sizeof(Record), &record);
    MPI_Type_commit(&record);
    size_t bytes = sizeof(Record) * (size_t)(count * ranks);
    Record* data = room(bytes);
    for (int form = 0; form < forms(); ++form) {
        memset(data, 0x33 + me, bytes);  // the gaps differ from rank to rank and must stay
        for (int b = 0; b < ranks; ++b) {
            for (int k = 0; k < count; ++k) {
                Record* r = &data[b * count + k];
                r->letter = (char)('a' + (me + b) % 26);
                r->number = item(me, b, k);
                for (int s = 0; s < 3; ++s)
                    r->small[s] = (short)(me * 10 + b + s);
            }
        }
        MPI_Request request = MPI_REQUEST_NULL;
        if (form == 0) {
            CALL(MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, count, record, MPI_COMM_WORLD));
        } else {
            int code = MPI_Ialltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, count, record, MPI_COMM_WORLD, &request);
            both_forms("MPI_Ialltoall of structs", code, &request);
        }
        int wrong = 0;
        int gaps = 0;
        for (int a = 0; a < ranks; ++a) {
            for (int k = 0; k < count; ++k) {
                Record const* r = &data[a * count + k];
                wrong += r->letter != (char)('a' + (me + a) % 26) || r->number != item(a, me, k);
                for (int s = 0; s < 3; ++s)
                    wrong += r->small[s] != (short)(a * 10 + me + s);
                gaps += ((char const*)r)[1] != (char)(0x33 + me);
            }
        }
        say("%d structs: truth %d wrong, %d gaps written", count, wrong, gaps);
    }
    free(data);
    MPI_Type_free(&record);
    MPI_Type_free(&tight);
}

int main(int argc, char** argv) {
    begin(&argc, &argv);
    int const sizes[] = {0, 1, 2, 7, 100, 4096, 16384, 65536, 262144, 1048576};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
        if (ranks > 4 && sizes[i] > 262144) continue;
        alltoall(sizes[i]);
        alltoallv(sizes[i] / 4);
        alltoallw(sizes[i] / 2);
        if (sizes[i] <= 65536) derived(sizes[i] / 2);
    }
    return end();
}
