/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes objects of MPI of each kind, frees some of them, and prints how many were made and left in each function;
 * figures.py has the words.
 *
 * known_objects [NUMBER]: so many of those that cost little. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define NAMED __attribute__((noinline, noclone)) static void
#define object(function, made, left) printf("object %s %s %d %d\n", function, __func__, made, left)

static MPI_Comm const world = MPI_COMM_WORLD;
static int rank, other, number = 300;
static int made_of[10], left_of[10];
enum { request, datatype, communicator, group, window, operation, info, error_handler, file, kinds };
static char const* const names[] = {"request",   "datatype", "communicator",  "group", "window",
                                    "operation", "info",     "error_handler", "file"};

static void count(int kind, int made, int left) {
    made_of[kind] += made;
    left_of[kind] += left;
}

NAMED persistent(void) {
    static int value;
    for (int i = 0; i < number; ++i) {
        MPI_Request pair[2];
        MPI_Send_init(&value, 1, MPI_INT, MPI_PROC_NULL, 0, world, &pair[0]);
        MPI_Recv_init(&value, 1, MPI_INT, MPI_PROC_NULL, 0, world, &pair[1]);
        MPI_Startall(2, pair);
        MPI_Waitall(2, pair, MPI_STATUSES_IGNORE);
        if (i % 10 == 0) MPI_Request_free(&pair[1]);
    }
    object("MPI_Send_init", number, number);
    object("MPI_Recv_init", number, number - (number + 9) / 10);
    count(request, 2 * number, 2 * number - (number + 9) / 10);
}
NAMED dropped(void) {
    static int value;
    int const messages = 200;
    for (int i = 0; i < messages; ++i) {
        MPI_Request open;
        MPI_Irecv(&value, 1, MPI_INT, other, i, world, &open);
        if (i % 2) MPI_Cancel(&open);
        if (i % 2) MPI_Wait(&open, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(world);
    for (int i = 0; i < messages; i += 2)
        MPI_Send(&rank, 1, MPI_INT, other, i, world);
    MPI_Barrier(world);
    object("MPI_Irecv", messages, messages / 2);
    count(request, messages, messages / 2);
}
NAMED types(void) {
    MPI_Datatype vector, twice, contents[1];
    int counts[3];
    MPI_Aint addresses[1];
    for (int i = 0; i < number; ++i) {
        MPI_Type_vector(3, 1, 2, MPI_INT, &vector);
        MPI_Type_contiguous(2, vector, &twice);
        MPI_Type_commit(&twice);
        MPI_Type_commit(&twice);
        if (i % 2) MPI_Type_free(&vector);
        if (i == 1) { /* what it was made of, under the same handle or another, is to be freed */
            MPI_Type_get_contents(twice, 1, 0, 1, counts, addresses, contents);
            MPI_Type_free(&contents[0]);
        }
        MPI_Type_free(&twice);
    }
    object("MPI_Type_vector", number, number - number / 2);
    object("MPI_Type_contiguous", number, 0);
    object("MPI_Type_get_contents", 1, 0);
    count(datatype, 2 * number + 1, number - number / 2);
}
NAMED copied_type(void) {
    MPI_Datatype copy;
    MPI_Type_dup(MPI_INT, &copy);
    object("MPI_Type_dup", 1, 1);
    count(datatype, 1, 1);
}

static int delete_copy(MPI_Comm comm, int key, void* value, void* state) {
    (void)comm, (void)key, (void)state;
    return MPI_Comm_free((MPI_Comm*)value);
}
/* A library keeps a copy of a communicator with it, and frees it when that is freed. */
NAMED kept_with(void) {
    static MPI_Comm copy, outer;
    int key;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_copy, &key, NULL);
    MPI_Comm_split(world, 0, rank, &outer);
    MPI_Comm_dup(outer, &copy);
    MPI_Comm_set_attr(outer, key, &copy);
    MPI_Comm_free(&outer);
    object("MPI_Comm_split", 1, 0);
    count(communicator, 2, 0);
    static MPI_Comm last;
    MPI_Comm_dup(world, &last); /* freed in MPI_Finalize */
    MPI_Comm_set_attr(MPI_COMM_SELF, key, &last);
    count(communicator, 1, 0);
    object("MPI_Comm_dup", 2, 0);
    MPI_Comm_free_keyval(&key);
}
NAMED communicators(void) {
    int const many = 300; /* more than a record names */
    for (int i = 0; i < many; ++i) {
        MPI_Comm half;
        MPI_Comm_split(world, i == 7 && rank ? MPI_UNDEFINED : 0, rank, &half);
        if (i % 3 == 0 && half != MPI_COMM_NULL) MPI_Comm_free(&half);
    }
    int const made = rank ? many - 1 : many;
    object("MPI_Comm_split", made, made - many / 3);
    count(communicator, made, made - many / 3);
}
/* One handle may stand for several groups. */
NAMED kept_groups(void) {
    static MPI_Group groups[3];
    for (int i = 0; i < 3; ++i)
        MPI_Comm_group(world, &groups[i]);
    object("MPI_Comm_group", 3, 3);
    count(group, 3, 3);
}
NAMED freed_groups(void) {
    for (int i = 0; i < number; ++i) {
        MPI_Group all, one, none;
        int const first = 0;
        MPI_Comm_group(world, &all);
        MPI_Group_incl(all, 1, &first, &one);
        MPI_Group_incl(all, 0, &first, &none); /* MPI_GROUP_EMPTY */
        MPI_Group_free(&all);
        if (i % 2) MPI_Group_free(&one);
    }
    object("MPI_Comm_group", number, 0);
    object("MPI_Group_incl", number, number - number / 2);
    count(group, 2 * number, number - number / 2);
}
NAMED windows(void) {
    MPI_Win freed, kept;
    static int memory[2];
    MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, world, &freed);
    MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, world, &kept);
    MPI_Win_free(&freed);
    object("MPI_Win_create", 2, 1);
    count(window, 2, 1);
}

static void add(void* in, void* inout, int* length, MPI_Datatype* type) {
    (void)type;
    for (int i = 0; i < *length; ++i)
        ((int*)inout)[i] += ((int*)in)[i];
}
static void handler(MPI_Comm* comm, int* code, ...) {
    (void)comm, (void)code;
}
NAMED small_ones(void) {
    for (int i = 0; i < number; ++i) {
        MPI_Info hints, copy;
        MPI_Op sum;
        MPI_Errhandler own, of_world;
        MPI_Info_create(&hints);
        MPI_Info_dup(hints, &copy);
        MPI_Info_free(&copy);
        if (i % 4) MPI_Info_free(&hints);
        if (i < 100) { /* MPICH has room for some hundred */
            MPI_Op_create(add, 1, &sum);
            if (i % 4) MPI_Op_free(&sum);
        }
        MPI_Comm_create_errhandler(handler, &own);
        if (i % 4) MPI_Errhandler_free(&own);
        MPI_Comm_get_errhandler(world, &of_world); /* predefined */
        MPI_Errhandler_free(&of_world);
    }
    object("MPI_Info_create", number, (number + 3) / 4);
    object("MPI_Info_dup", number, 0);
    object("MPI_Op_create", 100, 25);
    object("MPI_Comm_create_errhandler", number, (number + 3) / 4);
    count(info, 2 * number, (number + 3) / 4);
    count(operation, 100, 25);
    count(error_handler, number, (number + 3) / 4);
}
NAMED files(void) {
    MPI_File opened[2];
    for (int i = 0; i < 2; ++i)
        MPI_File_open(MPI_COMM_SELF, "/dev/null", MPI_MODE_RDONLY, MPI_INFO_NULL, &opened[i]);
    MPI_File_close(&opened[0]);
    object("MPI_File_open", 2, 1);
    count(file, 2, 1);
}

int main(int argc, char** argv) {
    if (argc > 1) number = atoi(argv[1]);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    other = 1 - rank;
    persistent();
    dropped();
    types();
    copied_type();
    kept_with();
    communicators();
    kept_groups();
    freed_groups();
    windows();
    small_ones();
    files();
    for (int kind = 0; kind < kinds; ++kind)
        printf("kind %s %d %d\n", names[kind], made_of[kind], left_of[kind]);
    MPI_Finalize();
    return 0;
}
