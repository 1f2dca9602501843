/* SPDX-License-Identifier: BSD-3-Clause */
// Derived datatypes in messages and collectives, packing, and counts beyond int if the MPI has them.
#include <stdlib.h>
#include <string.h>

#include "transcript.h"

typedef struct {
    char letter;
    double number;
    short small[3];
    int tail;
} Record;

enum { k_kinds = 8, k_cells = 4096 };

static MPI_Datatype make(int kind, char const** name) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Datatype inner = MPI_DATATYPE_NULL;
    int lengths[4] = {1, 1, 3, 1};
    int places[4] = {9, 0, 17, 4};
    MPI_Aint offsets[4] = {offsetof(Record, letter), offsetof(Record, number), offsetof(Record, small),
                           offsetof(Record, tail)};
    MPI_Datatype fields[4] = {MPI_CHAR, MPI_DOUBLE, MPI_SHORT, MPI_INT};
    switch (kind) {
        case 0:
            *name = "struct";
            MPI_Type_create_struct(4, lengths, offsets, fields, &inner);
            MPI_Type_create_resized(inner, 0, sizeof(Record), &type);
            break;
        case 1:
            *name = "vector";
            MPI_Type_vector(5, 3, 7, MPI_INT, &type);
            break;
        case 2:
            *name = "hvector backwards";
            MPI_Type_create_hvector(6, 1, -12, MPI_INT, &inner);
            MPI_Type_create_hindexed(1, (int[]){1}, (MPI_Aint[]){60}, inner, &type);
            break;
        case 3:
            *name = "indexed";
            MPI_Type_indexed(4, lengths, places, MPI_DOUBLE, &type);
            break;
        case 4:
            *name = "hindexed block";
            MPI_Type_create_hindexed_block(3, 2, (MPI_Aint[]){64, 0, 32}, MPI_FLOAT, &type);
            break;
        case 5:
            *name = "subarray";
            MPI_Type_create_subarray(3, (int[]){6, 5, 4}, (int[]){2, 3, 2}, (int[]){1, 1, 1}, MPI_ORDER_C, MPI_INT,
                                     &type);
            break;
        case 6:
            *name = "resized with a gap";
            MPI_Type_create_resized(MPI_DOUBLE, 0, 20, &type);
            break;
        default:
            *name = "darray";
            MPI_Type_create_darray(2, 1, 2, (int[]){6, 6}, (int[]){MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK},
                                   (int[]){2, MPI_DISTRIBUTE_DFLT_DARG}, (int[]){2, 1}, MPI_ORDER_FORTRAN, MPI_INT,
                                   &type);
            break;
    }
    CALL(MPI_Type_commit(&type));
    if (inner != MPI_DATATYPE_NULL) MPI_Type_free(&inner);
    return type;
}

static void describe(MPI_Datatype type, char const* name) {
    int size = -1;
    MPI_Aint lower = -1;
    MPI_Aint extent = -1;
    MPI_Aint true_lower = -1;
    MPI_Aint true_extent = -1;
    int integers = -1;
    int addresses = -1;
    int types = -1;
    int combiner = -1;
    MPI_Type_size(type, &size);
    MPI_Type_get_extent(type, &lower, &extent);
    MPI_Type_get_true_extent(type, &true_lower, &true_extent);
    MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    say("%s: size %d, %ld+%ld, truly %ld+%ld, envelope %d %d %d of %d", name, size, (long)lower, (long)extent,
        (long)true_lower, (long)true_extent, integers, addresses, types, combiner);
}

static void use(int kind) {
    char const* name = "";
    MPI_Datatype type = make(kind, &name);
    describe(type, name);
    MPI_Aint lower = 0;
    MPI_Aint extent = 0;
    int size = 0;
    MPI_Type_get_extent(type, &lower, &extent);
    MPI_Type_size(type, &size);
    int each = (int)((MPI_Aint)k_cells * 8 / extent / ranks / 2);
    size_t bytes = (size_t)k_cells * 16;
    char* out = room(bytes);
    char* in = room(bytes);
    int right = (me + 1) % ranks;
    int left = (me + ranks - 1) % ranks;
    MPI_Status status = untouched_status();
#define FRESH() (fill(out, bytes, (unsigned)(me * 20 + kind)), memset(in, 0x77, bytes))
    FRESH();
    CALL(MPI_Sendrecv(out, each, type, right, 1, in, each + 1, type, left, 1, MPI_COMM_WORLD, &status));
    say_status("exchange", &status, type);
    say_bytes("data", in, bytes);
    FRESH();  // packed data, received as bytes
    MPI_Request request;
    CALL(MPI_Irecv(in, (int)bytes, MPI_PACKED, left, 2, MPI_COMM_WORLD, &request));
    int position = 0;
    int packed_size = 0;
    CALL(MPI_Pack_size(3, type, MPI_COMM_WORLD, &packed_size));
    char* packed = room((size_t)packed_size);
    CALL(MPI_Pack(out, 3, type, packed, packed_size, &position, MPI_COMM_WORLD));
    say("packed: %d of at most %d", position, packed_size);
    CALL(MPI_Send(packed, position, MPI_PACKED, right, 2, MPI_COMM_WORLD));
    CALL(MPI_Wait(&request, MPI_STATUS_IGNORE));
    int read = 0;
    memset(out, 0x11, bytes);
    CALL(MPI_Unpack(in, position, &read, out, 3, type, MPI_COMM_WORLD));
    say_bytes("unpacked", out, bytes);
    free(packed);

    FRESH();
    CALL(MPI_Bcast(out, each, type, 0, MPI_COMM_WORLD));
    say_bytes("bcast", out, bytes);
    FRESH();
    CALL(MPI_Alltoall(out, each, type, in, each, type, MPI_COMM_WORLD));
    say_bytes("alltoall", in, bytes);
    FRESH();
    CALL(MPI_Iallgather(out, each, type, in, each, type, MPI_COMM_WORLD, &request));
    CALL(MPI_Wait(&request, MPI_STATUS_IGNORE));
    say_bytes("allgather", in, bytes);
    FRESH();
    CALL(MPI_Gather(out, each, type, in, each, type, ranks - 1, MPI_COMM_WORLD));
    say_bytes("gather", in, bytes);
    FRESH();  // only two elements, because MPICH 4.0.2 is wrong for more (inplace_truth.c)
    CALL(MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, 2, type, MPI_COMM_WORLD));
    say_bytes("in place", out, bytes);

    MPI_Datatype copy;
    char text[MPI_MAX_OBJECT_NAME] = "";
    int length = 0;
    CALL(MPI_Type_dup(type, &copy));
    CALL(MPI_Type_set_name(copy, name));
    CALL(MPI_Type_get_name(copy, text, &length));
    say("\"%s\"", text);
    CALL(MPI_Type_free(&copy));
    CALL(MPI_Type_free(&type));
    free(out);
    free(in);
}

// A type is freed while it is in use, and the message still arrives.
static void freed_early(void) {
    MPI_Datatype type;
    MPI_Request requests[2];
    int out[200];
    int in[200];
    fill(out, sizeof out, (unsigned)me);
    memset(in, 0, sizeof in);
    MPI_Type_vector(100, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    CALL(MPI_Irecv(in, 1, type, (me + ranks - 1) % ranks, 1, MPI_COMM_WORLD, &requests[0]));
    CALL(MPI_Isend(out, 1, type, (me + 1) % ranks, 1, MPI_COMM_WORLD, &requests[1]));
    CALL(MPI_Type_free(&type));
    CALL(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    say_bytes("with a freed type", in, sizeof in);
}

// Messages with absolute addresses from MPI_BOTTOM.
static void from_bottom(void) {
    int a[3] = {me, me + 1, me + 2};
    double b = me * 0.5;
    MPI_Aint offsets[2];
    MPI_Datatype fields[2] = {MPI_INT, MPI_DOUBLE};
    int lengths[2] = {3, 1};
    MPI_Datatype type;
    MPI_Get_address(a, &offsets[0]);
    MPI_Get_address(&b, &offsets[1]);
    MPI_Type_create_struct(2, lengths, offsets, fields, &type);
    MPI_Type_commit(&type);
    MPI_Status status = untouched_status();
    CALL(MPI_Sendrecv_replace(MPI_BOTTOM, 1, type, (me + 1) % ranks, 1, (me + ranks - 1) % ranks, 1, MPI_COMM_WORLD,
                              &status));
    say_status("from bottom", &status, type);
    say_ints("a", a, 3);
    say("b %.1f", b);
    CALL(MPI_Bcast(MPI_BOTTOM, 1, type, ranks - 1, MPI_COMM_WORLD));
    say_ints("a", a, 3);
    MPI_Type_free(&type);
}

static void wide_counts(void) {
#if MPI_VERSION >= 4
    enum { k_each = 5000 };
    size_t bytes = sizeof(double) * (size_t)(k_each * ranks);
    double* out = room(bytes);
    double* in = room(bytes);
    MPI_Count each = k_each;
    MPI_Count* counts = room(sizeof(MPI_Count) * (size_t)ranks);
    MPI_Aint* places = room(sizeof(MPI_Aint) * (size_t)ranks);
    for (int i = 0; i < ranks; ++i) {
        counts[i] = k_each;
        places[i] = (MPI_Aint)i * k_each;
    }
    MPI_Status status = untouched_status();
    MPI_Request request;
    fill(out, bytes, (unsigned)me);
    CALL(MPI_Irecv_c(in, each, MPI_DOUBLE, (me + ranks - 1) % ranks, 1, MPI_COMM_WORLD, &request));
    CALL(MPI_Send_c(out, each, MPI_DOUBLE, (me + 1) % ranks, 1, MPI_COMM_WORLD));
    CALL(MPI_Wait(&request, &status));
    MPI_Count received = -1;
    CALL(MPI_Get_count_c(&status, MPI_DOUBLE, &received));
    say("received %lld", (long long)received);
    CALL(MPI_Alltoall_c(out, each, MPI_DOUBLE, in, each, MPI_DOUBLE, MPI_COMM_WORLD));
    say_bytes("alltoall_c", in, bytes);
    CALL(MPI_Alltoall_c(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, each, MPI_DOUBLE, MPI_COMM_WORLD));
    say_bytes("in place", in, bytes);
    CALL(MPI_Ialltoall_c(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, each, MPI_DOUBLE, MPI_COMM_WORLD, &request));
    CALL(MPI_Wait(&request, MPI_STATUS_IGNORE));
    say_bytes("in place", in, bytes);
    CALL(MPI_Alltoallv_c(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, in, counts, places, MPI_DOUBLE, MPI_COMM_WORLD));
    say_bytes("in place", in, bytes);
    for (size_t i = 0; i < bytes / sizeof(double); ++i)
        out[i] = (double)(i % 97) / 3.0 + me;
    CALL(MPI_Allreduce_c(out, in, each, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    say_bytes("allreduce_c", in, bytes);
    CALL(MPI_Bcast_c(out, each, MPI_DOUBLE, 0, MPI_COMM_WORLD));
    say_bytes("bcast_c", out, bytes);
    MPI_Datatype type;
    MPI_Count size = -1;
    CALL(MPI_Type_contiguous_c(((MPI_Count)1 << 32) + 3, MPI_INT, &type));
    CALL(MPI_Type_size_c(type, &size));
    say("size %lld", (long long)size);
    CALL(MPI_Type_free(&type));
    free(out);
    free(in);
    free(counts);
    free(places);
#else
    say("no counts beyond int here");
#endif
}

int main(int argc, char** argv) {
    begin(&argc, &argv);
    for (int kind = 0; kind < k_kinds; ++kind)
        use(kind);
    freed_early();
    from_bottom();
    wide_counts();
    return end();
}
