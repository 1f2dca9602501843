/* SPDX-License-Identifier: BSD-3-Clause */
// Rank 0 makes its calls in a function that MPI runs, the other ranks make theirs outside: communicators, collective
// calls on them, what services do for these. The argument says which function: "handler", "copy", "delete", or
// "finalize", the delete function of an attribute of MPI_COMM_SELF, which MPI_Finalize runs while the others have not
// come to it. "again": a communicator is freed in such a function, and its handle given to another one.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "transcript.h"

enum { k_block = 1 << 15, k_rooted = 3000 };

static void exchange(MPI_Comm comm, char const* what) {
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    size_t const bytes = sizeof(int) * k_block * (size_t)size;
    int* data = room(bytes);
    fill(data, bytes, (unsigned)rank);
    CALL(MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, k_block, MPI_INT, comm));
    say_bytes(what, data, bytes);

    int* counts = room(sizeof(int) * (size_t)size);
    int* places = room(sizeof(int) * (size_t)size);
    MPI_Datatype* types = room(sizeof(MPI_Datatype) * (size_t)size);
    for (int i = 0; i < size; ++i) {
        counts[i] = k_block;
        places[i] = (int)sizeof(int) * k_block * i;
        types[i] = MPI_INT;
    }
    MPI_Request request;
    CALL(MPI_Ialltoallw(MPI_IN_PLACE, NULL, NULL, NULL, data, counts, places, types, comm, &request));
    CALL(MPI_Wait(&request, MPI_STATUS_IGNORE));
    say_bytes(what, data, bytes);
    free(types);
    free(places);
    free(counts);
    free(data);
}

// So many that a rank that runs ahead is held, if anything holds it.
static void rooted(MPI_Comm comm) {
    int sum = 0;
    for (int i = 0; i < k_rooted; ++i) {
        int word = me == 0 ? i : 0;
        MPI_Bcast(&word, 1, MPI_INT, 0, comm);
        sum += word;
    }
    say("%d words, sum %d", k_rooted, sum);
}

static void part_of_all(void) {
    MPI_Comm made, half;
    CALL(MPI_Comm_dup(MPI_COMM_WORLD, &made));
    exchange(made, "duplicate");
    rooted(made);
    CALL(MPI_Comm_split(made, me % 2, -me, &half));
    exchange(half, "half");
    CALL(MPI_Comm_free(&half));
    CALL(MPI_Comm_free(&made));
    exchange(MPI_COMM_WORLD, "world");
}

static void handles(MPI_Comm* comm, int* code, ...) {
    (void)comm;
    (void)code;
    part_of_all();
}
static int copies(MPI_Comm comm, int key, void* extra, void* from, void* to, int* flag) {
    (void)comm, (void)key, (void)extra, (void)from, (void)to;
    *flag = 0;
    part_of_all();
    return MPI_SUCCESS;
}
static int deletes(MPI_Comm comm, int key, void* value, void* extra) {
    (void)comm, (void)key, (void)value, (void)extra;
    part_of_all();
    return MPI_SUCCESS;
}

// The function of MPI_COMM_SELF, and one that has to run after it.
static int finishes(MPI_Comm comm, int key, void* value, void* extra) {
    (void)comm, (void)key, (void)extra;
    if (value == NULL) {
        say("the first attribute is deleted last");
        return MPI_SUCCESS;
    }
    part_of_all();
    int last = ranks - 1;
    if (last > 0) CALL(MPI_Send(&last, 1, MPI_INT, last, 7, MPI_COMM_WORLD));
    return MPI_SUCCESS;
}

static void set_on_self(void* value) {
    int key;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, finishes, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, value);
    MPI_Comm_free_keyval(&key);
}

static void in_handler(void) {
    MPI_Comm faulty;
    MPI_Errhandler handler;
    MPI_Comm_dup(MPI_COMM_SELF, &faulty);
    MPI_Comm_create_errhandler(handles, &handler);
    MPI_Comm_set_errhandler(faulty, handler);
    CALL(MPI_Send(&me, -1, MPI_INT, 0, 0, faulty));
    MPI_Errhandler_free(&handler);
    MPI_Comm_free(&faulty);
}

static void in_attribute(MPI_Comm_copy_attr_function* copy, MPI_Comm_delete_attr_function* delete) {
    MPI_Comm own, other;
    int key;
    MPI_Comm_dup(MPI_COMM_SELF, &own);
    MPI_Comm_create_keyval(copy, delete, &key, NULL);
    MPI_Comm_set_attr(own, key, NULL);
    CALL(MPI_Comm_dup(own, &other));
    CALL(MPI_Comm_free(&own));
    MPI_Comm_free(&other);
    MPI_Comm_free_keyval(&key);
}

static int frees(MPI_Comm comm, int key, void* inner, void* extra) {
    (void)comm, (void)key, (void)extra;
    return MPI_Comm_free(inner);
}

// The members of the halves get handles that the world's duplicate had.
static void given_again(void) {
    enum { k_many = 64 };
    static MPI_Comm inner;
    MPI_Comm outer, half, made[k_many];
    int key, first = -1, used = -1;
    MPI_Comm_dup(MPI_COMM_WORLD, &outer);
    MPI_Comm_dup(MPI_COMM_WORLD, &inner);
    MPI_Comm const old = inner;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, frees, &key, NULL);
    MPI_Comm_set_attr(outer, key, &inner);
    MPI_Comm_split(MPI_COMM_WORLD, me / 2, me, &half);
    MPI_Comm_free(&outer);
    for (int i = 0; i < k_many; ++i) {
        MPI_Request request;
        MPI_Comm_idup(half, &made[i], &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (made[i] == old && first < 0) first = i;
    }
    MPI_Allreduce(&first, &used, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    exchange(made[used >= 0 ? used : 0], "again");
    // Which of them it is depends on the allocator. In a line that compare.py takes for one of the layer.
    if (me == 0) fprintf(stderr, "sluice test: %d handles given again\n", used >= 0);
    for (int i = 0; i < k_many; ++i)
        MPI_Comm_free(&made[i]);
    MPI_Comm_free(&half);
    MPI_Comm_free_keyval(&key);
}

int main(int argc, char** argv) {
    begin(&argc, &argv);
    char const* const where = argc > 1 ? argv[1] : "handler";
    if (strcmp(where, "again") == 0) {
        given_again();
        return end();
    }
    if (me != 0 || strcmp(where, "outside") == 0) {
        part_of_all();
        int word = 0;
        if (strcmp(where, "finalize") == 0 && me == ranks - 1)
            CALL(MPI_Recv(&word, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    } else if (strcmp(where, "handler") == 0) {
        in_handler();
    } else if (strcmp(where, "copy") == 0) {
        in_attribute(copies, MPI_COMM_NULL_DELETE_FN);
    } else if (strcmp(where, "delete") == 0) {
        in_attribute(MPI_COMM_NULL_COPY_FN, deletes);
    } else {
        set_on_self(NULL);
        set_on_self(&me);
    }
    if (strcmp(where, "finalize") != 0) return end();
    CALL(MPI_Finalize());  // not all ranks come to it at once, as they do in end()
    return 0;
}
