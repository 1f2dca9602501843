/* SPDX-License-Identifier: BSD-3-Clause */
// Communicators: every way to make one, what is inherited, which callbacks run and how often. This finds a layer that
// duplicates a user's communicator, or sends messages of its own on it.
#include <stdlib.h>
#include <string.h>

#include "transcript.h"

static int copies = 0;
static int deletes = 0;

static int on_copy(MPI_Comm comm, int key, void* extra, void* value, void* new_value, int* flag) {
    (void)comm;
    (void)key;
    ++copies;
    *(int**)new_value = value;
    *flag = *(int*)extra;
    return MPI_SUCCESS;
}
static int on_delete(MPI_Comm comm, int key, void* value, void* extra) {
    (void)comm;
    (void)key;
    (void)value;
    (void)extra;
    ++deletes;
    return MPI_SUCCESS;
}

// Shows size, rank, members, name and attribute, and that the communicator works.
static void describe(char const* what, MPI_Comm comm, int key) {
    if (comm == MPI_COMM_NULL) {
        say("%s: null", what);
        return;
    }
    int size = 0;
    int rank = 0;
    int inter = -1;
    int topology = -1;
    int length = 0;
    int flag = -1;
    int relation = -1;
    void* value = NULL;
    char name[MPI_MAX_OBJECT_NAME] = "";
    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_test_inter(comm, &inter);
    MPI_Topo_test(comm, &topology);
    MPI_Comm_get_name(comm, name, &length);
    MPI_Comm_get_attr(comm, key, &value, &flag);
    MPI_Comm_compare(comm, MPI_COMM_WORLD, &relation);
    say("%s: rank %d of %d, inter %d, topology %d, name \"%s\", attribute %d, relation %d", what, rank, size, inter,
        topology == MPI_UNDEFINED ? -1 : topology, inter ? "" : name, flag, relation);
    int in[2] = {me, 1};
    int out[2] = {0, 0};
    MPI_Allreduce(in, out, 2, MPI_INT, MPI_SUM, comm);
    say_ints("sum", out, 2);
}

static void made_from_world(int key) {
    MPI_Comm comm;
    MPI_Request request;
    CALL(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    describe("dup", comm, key);
    CALL(MPI_Comm_set_name(comm, "a name of its own"));
    describe("named", comm, key);
    MPI_Comm second;
    CALL(MPI_Comm_idup(comm, &second, &request));
    MPI_Status status = untouched_status();
    CALL(MPI_Wait(&request, &status));
    describe("idup", second, key);
    CALL(MPI_Comm_free(&second));
    CALL(MPI_Comm_dup_with_info(comm, MPI_INFO_NULL, &second));
    describe("dup with info", second, key);
    CALL(MPI_Comm_free(&second));
    CALL(MPI_Comm_free(&comm));
    say("null again: %d", comm == MPI_COMM_NULL);

    CALL(MPI_Comm_split(MPI_COMM_WORLD, me % 2, -me, &comm));
    describe("split", comm, key);
    CALL(MPI_Comm_free(&comm));
    CALL(MPI_Comm_split(MPI_COMM_WORLD, me == 0 ? MPI_UNDEFINED : 4, me, &comm));
    describe("split without rank 0", comm, key);
    if (comm != MPI_COMM_NULL) CALL(MPI_Comm_free(&comm));
    CALL(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm));
    describe("split by shared memory", comm, key);
    CALL(MPI_Comm_free(&comm));

    MPI_Group world;
    MPI_Group part;
    int half = (ranks + 1) / 2;
    int range[1][3] = {{half - 1, 0, -1}};
    CALL(MPI_Comm_group(MPI_COMM_WORLD, &world));
    CALL(MPI_Group_range_incl(world, 1, range, &part));
    CALL(MPI_Comm_create(MPI_COMM_WORLD, part, &comm));
    describe("create", comm, key);
    if (comm != MPI_COMM_NULL) CALL(MPI_Comm_free(&comm));
    if (me < half) {
        CALL(MPI_Comm_create_group(MPI_COMM_WORLD, part, 17, &comm));
        describe("create_group", comm, key);
        CALL(MPI_Comm_free(&comm));
    }
    int translated = -1;
    CALL(MPI_Group_translate_ranks(world, 1, &me, part, &translated));
    say("my rank in the part: %d", translated == MPI_UNDEFINED ? -1 : translated);
    CALL(MPI_Group_free(&part));
    CALL(MPI_Group_free(&world));
    say("callbacks: copy %d delete %d", copies, deletes);
}

static void topologies(int key) {
    MPI_Comm comm;
    int dims[2] = {0, 0};
    int periods[2] = {1, 0};
    int coords[2] = {-1, -1};
    CALL(MPI_Dims_create(ranks, 2, dims));
    say_ints("dims", dims, 2);
    CALL(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &comm));
    describe("cart", comm, key);
    CALL(MPI_Cart_coords(comm, me, 2, coords));
    say_ints("coords", coords, 2);
    int source = 0;
    int target = 0;
    CALL(MPI_Cart_shift(comm, 1, 1, &source, &target));
    say("shift %d %d", source == MPI_PROC_NULL ? -1 : source, target == MPI_PROC_NULL ? -1 : target);
    MPI_Comm row;
    int remain[2] = {1, 0};
    CALL(MPI_Cart_sub(comm, remain, &row));
    describe("cart_sub", row, key);
    CALL(MPI_Comm_free(&row));
    CALL(MPI_Comm_free(&comm));

    int* index = room(sizeof(int) * (size_t)ranks);
    int* edges = room(sizeof(int) * (size_t)ranks);
    for (int i = 0; i < ranks; ++i) {
        index[i] = i + 1;
        edges[i] = (i + 1) % ranks;
    }
    CALL(MPI_Graph_create(MPI_COMM_WORLD, ranks, index, edges, 0, &comm));
    describe("graph", comm, key);
    CALL(MPI_Comm_free(&comm));

    int from = (me + ranks - 1) % ranks;
    int to = (me + 1) % ranks;
    CALL(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &from, MPI_UNWEIGHTED, 1, &to, MPI_UNWEIGHTED, MPI_INFO_NULL,
                                        0, &comm));
    describe("dist_graph_adjacent", comm, key);
    int received = -1;
    CALL(MPI_Neighbor_alltoall(&me, 1, MPI_INT, &received, 1, MPI_INT, comm));
    say("from my neighbour: %d", received);
    CALL(MPI_Comm_free(&comm));
#ifdef OPEN_MPI
    say("MPI_Dist_graph_create is left out: that of Open MPI 4.1.4 hangs now and then");
#else
    int degree = 1;
    CALL(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &me, &degree, &to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm));
    describe("dist_graph", comm, key);
    int in = -1;
    int out = -1;
    int weighted = -1;
    CALL(MPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted));
    say("in %d out %d weighted %d", in, out, weighted);
    CALL(MPI_Comm_free(&comm));
#endif
    free(index);
    free(edges);
}

static void intercommunicators(int key) {
    if (ranks < 2) return;
    MPI_Comm half;
    MPI_Comm inter;
    MPI_Comm merged;
    MPI_Comm_split(MPI_COMM_WORLD, me % 2, me, &half);
    CALL(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - me % 2, 12, &inter));
    describe("inter", inter, key);
    MPI_Comm twin;
    CALL(MPI_Comm_dup(inter, &twin));
    describe("dup of inter", twin, key);
    CALL(MPI_Comm_free(&twin));
    CALL(MPI_Intercomm_merge(inter, me % 2, &merged));
    describe("merged", merged, key);
    int received = -1;
    int others = 0;
    MPI_Comm_remote_size(inter, &others);
    int place = me / 2;
    if (place < others) {
        CALL(MPI_Sendrecv(&me, 1, MPI_INT, place, 3, &received, 1, MPI_INT, place, 3, inter, MPI_STATUS_IGNORE));
        say("from the other side: %d", received);
    }
    CALL(MPI_Comm_free(&merged));
    CALL(MPI_Comm_free(&inter));
    CALL(MPI_Comm_free(&half));
}

// Tests predefined attributes, info, and that messages stay on their own communicator.
static void properties(void) {
    int const keys[] = {MPI_TAG_UB,        MPI_HOST,   MPI_IO,          MPI_WTIME_IS_GLOBAL,
                        MPI_UNIVERSE_SIZE, MPI_APPNUM, MPI_LASTUSEDCODE};
    char const* const names[] = {"TAG_UB", "HOST", "IO", "WTIME_IS_GLOBAL", "UNIVERSE_SIZE", "APPNUM", "LASTUSEDCODE"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; ++i) {
        int* value = NULL;
        int flag = -1;
        CALL(MPI_Comm_get_attr(MPI_COMM_WORLD, keys[i], &value, &flag));
        say("%s: %d %d", names[i], flag, flag ? *value : 0);
    }
    MPI_Info info;
    CALL(MPI_Comm_get_info(MPI_COMM_WORLD, &info));
    int entries = -1;
    CALL(MPI_Info_get_nkeys(info, &entries));
    say("%d hints", entries);
    CALL(MPI_Info_free(&info));
    char name[MPI_MAX_OBJECT_NAME];
    int length = 0;
    CALL(MPI_Comm_get_name(MPI_COMM_WORLD, name, &length));
    say("\"%s\"", name);
    CALL(MPI_Comm_get_name(MPI_COMM_SELF, name, &length));
    say("\"%s\"", name);

    MPI_Comm second;
    MPI_Comm_dup(MPI_COMM_WORLD, &second);
    int out[2] = {1, 2};
    int in[2] = {0, 0};
    int to = (me + 1) % ranks;
    MPI_Request requests[2];
    MPI_Isend(&out[0], 1, MPI_INT, to, 5, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&out[1], 1, MPI_INT, to, 5, second, &requests[1]);
    MPI_Recv(&in[1], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, second, MPI_STATUS_IGNORE);
    MPI_Recv(&in[0], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    say_ints("by communicator", in, 2);
    MPI_Comm_free(&second);
}

// Counts how many communicators fit: with a layer that duplicated each, MPICH would have half as many, about 1000.
static void many(void) {
    int const wanted = ranks <= 2 ? 1200 : 40;
    MPI_Comm* comms = room(sizeof(MPI_Comm) * (size_t)wanted);
    int made = 0;
    while (made < wanted && MPI_Comm_dup(MPI_COMM_WORLD, &comms[made]) == MPI_SUCCESS)
        ++made;
    say("made at once: %d", made);
    for (int i = made; i-- > 0;)
        MPI_Comm_free(&comms[i]);
    for (int i = 0; i < wanted; ++i) {
        if (MPI_Comm_split(MPI_COMM_WORLD, i % 3, me, &comms[0]) != MPI_SUCCESS) break;
        int one = 1;
        MPI_Bcast(&one, 1, MPI_INT, 0, comms[0]);
        MPI_Comm_free(&comms[0]);
    }
    say("and one after the other");
    free(comms);
}

int main(int argc, char** argv) {
    begin(&argc, &argv);
    int copied = 1;
    int not_copied = 0;
    int value = 12;
    int key = MPI_KEYVAL_INVALID;
    int other = MPI_KEYVAL_INVALID;
    CALL(MPI_Comm_create_keyval(on_copy, on_delete, &key, &copied));
    CALL(MPI_Comm_create_keyval(on_copy, on_delete, &other, &not_copied));
    CALL(MPI_Comm_set_attr(MPI_COMM_WORLD, key, &value));
    CALL(MPI_Comm_set_attr(MPI_COMM_WORLD, other, &value));
    CALL(MPI_Comm_set_attr(MPI_COMM_SELF, key, &value));
    describe("world", MPI_COMM_WORLD, key);
    describe("self", MPI_COMM_SELF, key);
    made_from_world(key);
    topologies(key);
    intercommunicators(key);
    properties();
    say("callbacks: copy %d delete %d", copies, deletes);
    many();
    say("callbacks: copy %d delete %d", copies, deletes);
    CALL(MPI_Comm_delete_attr(MPI_COMM_WORLD, other));
    CALL(MPI_Comm_delete_attr(MPI_COMM_WORLD, key));
    CALL(MPI_Comm_free_keyval(&other));
    int finalized = -1;
    CALL(MPI_Finalized(&finalized));
    int code = end();  // deletes the attribute of MPI_COMM_SELF
    CALL(MPI_Finalized(&finalized));
    say("callbacks: copy %d delete %d, finalized %d", copies, deletes, finalized);
    return code;
}
