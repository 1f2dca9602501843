/* SPDX-License-Identifier: BSD-3-Clause */
// Every collective, blocking and not, out of place: their results bit by bit, with user operations, neighbourhoods and
// an intercommunicator.
#include <stdlib.h>
#include <string.h>

#include "transcript.h"

// Makes both forms of a collective: BOTH(Bcast, Ibcast, buffer, …, comm). PREPARE sets the buffers before each.
#define PREPARE()                           \
    do {                                    \
        fill(out, bytes, (unsigned)me + 1); \
        for (int j = 0; j < total; ++j)     \
            out[j] = value(j);              \
        memset(in, 0, bytes);               \
    } while (0)
#define BOTH(name, nonblocking, ...)                                           \
    do {                                                                       \
        PREPARE();                                                             \
        called("MPI_" #name, MPI_##name(__VA_ARGS__));                         \
        say_bytes("result", in, bytes);                                        \
        MPI_Request request = MPI_REQUEST_NULL;                                \
        MPI_Status status = untouched_status();                                \
        PREPARE();                                                             \
        called("MPI_" #nonblocking, MPI_##nonblocking(__VA_ARGS__, &request)); \
        called("wait", MPI_Wait(&request, &status));                           \
        say_bytes("result", in, bytes);                                        \
        say("MPI_ERROR untouched: %d", status.MPI_ERROR == k_untouched);       \
    } while (0)

static double value(int j) {
    return (double)((me * 131 + j * 17) % 1009) / 7.0;
}

// This operation is not commutative: (a, b) is the map x -> a·x + b, and maps are composed in the order of the ranks.
static void compose(void* in, void* inout, int* count, MPI_Datatype* type) {
    (void)type;
    double const* first = in;
    double* second = inout;
    for (int i = 0; i + 1 < *count; i += 2) {
        double a = first[i] * second[i] / 64.0;
        double b = first[i + 1] * second[i] / 64.0 + second[i + 1];
        second[i] = a;
        second[i + 1] = b;
    }
}

static void fixed_sizes(int each) {
    int total = each * ranks;
    size_t bytes = sizeof(double) * (size_t)total;
    double* out = room(bytes);
    double* in = room(bytes);
    int last = ranks - 1;
    MPI_Comm const world = MPI_COMM_WORLD;
    say("%d doubles a rank", each);
    CALL(MPI_Barrier(world));
    BOTH(Alltoall, Ialltoall, out, each, MPI_DOUBLE, in, each, MPI_DOUBLE, world);
    BOTH(Allgather, Iallgather, out, each, MPI_DOUBLE, in, each, MPI_DOUBLE, world);
    BOTH(Gather, Igather, out, each, MPI_DOUBLE, in, each, MPI_DOUBLE, last, world);
    BOTH(Scatter, Iscatter, out, each, MPI_DOUBLE, in, each, MPI_DOUBLE, last, world);
    BOTH(Reduce, Ireduce, out, in, total, MPI_DOUBLE, MPI_SUM, last, world);
    BOTH(Allreduce, Iallreduce, out, in, total, MPI_DOUBLE, MPI_SUM, world);
    BOTH(Allreduce, Iallreduce, out, in, total, MPI_DOUBLE, MPI_MAX, world);
    BOTH(Reduce_scatter_block, Ireduce_scatter_block, out, in, each, MPI_DOUBLE, MPI_SUM, world);
    BOTH(Scan, Iscan, out, in, total, MPI_DOUBLE, MPI_SUM, world);
    if (me > 0) {
        BOTH(Exscan, Iexscan, out, in, total, MPI_DOUBLE, MPI_PROD, world);
    } else {  // here the result is undefined
        MPI_Request request;
        PREPARE();
        MPI_Exscan(out, in, total, MPI_DOUBLE, MPI_PROD, world);
        PREPARE();
        MPI_Iexscan(out, in, total, MPI_DOUBLE, MPI_PROD, world, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    PREPARE();
    CALL(MPI_Bcast(out, total, MPI_DOUBLE, last, world));
    say_bytes("result", out, bytes);
    MPI_Request request;
    PREPARE();
    CALL(MPI_Ibcast(out, total, MPI_DOUBLE, 0, world, &request));
    CALL(MPI_Wait(&request, MPI_STATUS_IGNORE));
    say_bytes("result", out, bytes);
    CALL(MPI_Ibarrier(world, &request));
    CALL(MPI_Wait(&request, MPI_STATUS_IGNORE));
    PREPARE();
    CALL(MPI_Reduce_local(out, in, total, MPI_DOUBLE, MPI_SUM));
    say_bytes("result", in, bytes);
    free(out);
    free(in);
}

// Last, because receives no longer return early once a program has an operation of its own.
static void own_operation(int each) {
    int total = each * ranks / 2 * 2;
    size_t bytes = sizeof(double) * (size_t)(each * ranks);
    double* out = room(bytes);
    double* in = room(bytes);
    MPI_Comm const world = MPI_COMM_WORLD;
    MPI_Op ordered;
    MPI_Op_create(compose, 0, &ordered);
    BOTH(Allreduce, Iallreduce, out, in, total, MPI_DOUBLE, ordered, world);
    BOTH(Reduce, Ireduce, out, in, total, MPI_DOUBLE, ordered, 0, world);
    int commutes = -1;
    CALL(MPI_Op_commutative(ordered, &commutes));
    say("commutes: %d", commutes);
    CALL(MPI_Op_free(&ordered));
    free(out);
    free(in);
}

// Rank i sends (i + j) % 3 * unit items to rank j, so also none.
static void varying_sizes(int unit) {
    int* counts = room(sizeof(int) * (size_t)ranks);
    int* places = room(sizeof(int) * (size_t)ranks);
    int* byte_places = room(sizeof(int) * (size_t)ranks);
    int* mine = room(sizeof(int) * (size_t)ranks);
    MPI_Datatype* types = room(sizeof(MPI_Datatype) * (size_t)ranks);
    int total = 3 * unit * ranks;
    size_t bytes = sizeof(double) * (size_t)total;
    double* out = room(bytes);
    double* in = room(bytes);
    MPI_Comm const world = MPI_COMM_WORLD;
    int root = ranks / 2;
    for (int i = 0; i < ranks; ++i) {
        counts[i] = (me + i) % 3 * unit;
        mine[i] = i % 3 * unit;
        places[i] = (ranks - 1 - i) * 3 * unit;
        byte_places[i] = places[i] * (int)sizeof(double);
        types[i] = MPI_DOUBLE;
    }
    say("up to %d doubles to each", 2 * unit);
    BOTH(Alltoallv, Ialltoallv, out, counts, places, MPI_DOUBLE, in, counts, places, MPI_DOUBLE, world);
    BOTH(Alltoallw, Ialltoallw, out, counts, byte_places, types, in, counts, byte_places, types, world);
    BOTH(Allgatherv, Iallgatherv, out, mine[me], MPI_DOUBLE, in, mine, places, MPI_DOUBLE, world);
    BOTH(Gatherv, Igatherv, out, mine[me], MPI_DOUBLE, in, mine, places, MPI_DOUBLE, root, world);
    BOTH(Scatterv, Iscatterv, out, mine, places, MPI_DOUBLE, in, mine[me], MPI_DOUBLE, root, world);
    BOTH(Reduce_scatter, Ireduce_scatter, out, in, mine, MPI_DOUBLE, MPI_SUM, world);
    free(counts);
    free(places);
    free(byte_places);
    free(mine);
    free(types);
    free(out);
    free(in);
}

static void neighbours(int each) {
    int dimensions[1] = {ranks};
    int periodic[1] = {1};
    MPI_Comm ring;
    CALL(MPI_Cart_create(MPI_COMM_WORLD, 1, dimensions, periodic, 0, &ring));
    int total = 2 * each;
    size_t bytes = sizeof(double) * (size_t)total;
    double* out = room(bytes);
    double* in = room(bytes);
    int counts[2] = {each, each};
    int places[2] = {each, 0};
    MPI_Aint byte_places[2] = {(MPI_Aint)sizeof(double) * each, 0};
    MPI_Datatype types[2] = {MPI_DOUBLE, MPI_DOUBLE};
    BOTH(Neighbor_allgather, Ineighbor_allgather, out, each, MPI_DOUBLE, in, each, MPI_DOUBLE, ring);
    BOTH(Neighbor_allgatherv, Ineighbor_allgatherv, out, each, MPI_DOUBLE, in, counts, places, MPI_DOUBLE, ring);
    BOTH(Neighbor_alltoall, Ineighbor_alltoall, out, each, MPI_DOUBLE, in, each, MPI_DOUBLE, ring);
    BOTH(Neighbor_alltoallv, Ineighbor_alltoallv, out, counts, places, MPI_DOUBLE, in, counts, places, MPI_DOUBLE,
         ring);
    BOTH(Neighbor_alltoallw, Ineighbor_alltoallw, out, counts, byte_places, types, in, counts, byte_places, types,
         ring);
    free(out);
    free(in);
    CALL(MPI_Comm_free(&ring));
}

static void pairs(void) {
    struct {
        double value;
        int rank;
    } in[3] = {{me * 1.5, me}, {-me * 1.5, me}, {2.0, me}}, out[3];
    CALL(MPI_Allreduce(in, out, 3, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD));
    for (int i = 0; i < 3; ++i)
        say("maxloc %.1f at %d", out[i].value, out[i].rank);
    CALL(MPI_Allreduce(in, out, 3, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD));
    for (int i = 0; i < 3; ++i)
        say("minloc %.1f at %d", out[i].value, out[i].rank);
    unsigned char bits[4] = {(unsigned char)(1 << me), 0xF0, 1, (unsigned char)(me == 0)};
    unsigned char result[4];
    CALL(MPI_Allreduce(bits, result, 4, MPI_UNSIGNED_CHAR, MPI_BOR, MPI_COMM_WORLD));
    say("bits %02x%02x%02x%02x", result[0], result[1], result[2], result[3]);
    CALL(MPI_Allreduce(bits, result, 4, MPI_UNSIGNED_CHAR, MPI_BXOR, MPI_COMM_WORLD));
    say("bits %02x%02x%02x%02x", result[0], result[1], result[2], result[3]);
}

// Even ranks form one group and odd ranks the other: every rank sends its block to each rank of the other group.
static void between_groups(void) {
    if (ranks < 2) return;
    MPI_Comm half;
    MPI_Comm both;
    MPI_Comm_split(MPI_COMM_WORLD, me % 2, me, &half);
    CALL(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - me % 2, 5, &both));
    int others = 0;
    MPI_Comm_remote_size(both, &others);
    int out[16];
    int in[16] = {0};
    for (int i = 0; i < 16; ++i)
        out[i] = me * 100 + i;
    CALL(MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, both));
    say_ints("alltoall", in, others);
    int root = me % 2 == 0 ? (me == 0 ? MPI_ROOT : MPI_PROC_NULL) : 0;
    CALL(MPI_Bcast(out, 4, MPI_INT, root, both));
    say_ints("bcast", out, 4);
    CALL(MPI_Allreduce(&me, in, 1, MPI_INT, MPI_SUM, both));
    say_ints("allreduce", in, 1);
    MPI_Comm_free(&both);
    MPI_Comm_free(&half);
}

static void repeated(void) {
#if MPI_VERSION >= 4
    double out[64] = {0};
    double in[64] = {0};
    MPI_Request request;
    CALL(MPI_Allreduce_init(out, in, 64, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
    for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < 64; ++i)
            out[i] = me + i * round;
        CALL(MPI_Start(&request));
        CALL(MPI_Wait(&request, MPI_STATUS_IGNORE));
        say_bytes("persistent", in, sizeof in);
    }
    CALL(MPI_Request_free(&request));
#else
    say("no persistent collectives here");
#endif
}

int main(int argc, char** argv) {
    begin(&argc, &argv);
    int const sizes[] = {1, 2, 100, 8192};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
        fixed_sizes(sizes[i]);
        varying_sizes(sizes[i]);
        neighbours(sizes[i]);
    }
    pairs();
    between_groups();
    repeated();
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i)
        own_operation(sizes[i]);
    return end();
}
