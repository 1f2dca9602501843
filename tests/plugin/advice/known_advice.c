/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs whose faults are known, one for each mode, for two ranks unless a mode says otherwise: known_advice MODE
 * FOLDER. Ranks tell each other in files of FOLDER what MPI must not carry. A rank that is late outlives many times
 * what the job has lived so far, so the share of waiting depends on no clock. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The report names the function of a call: it stays a function. */
#define NAMED __attribute__((noinline))

static char const* g_folder;
static double g_began;

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
static void tell(char const* what) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", g_folder, what);
    FILE* file = fopen(path, "w");
    if (file == NULL) exit(3);
    fclose(file);
}
static void wait_for(char const* what) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", g_folder, what);
    while (access(path, F_OK) != 0)
        usleep(1000);
}
/* The other rank is about to call MPI: this one makes it wait for nine tenths of the time. */
static void be_late(void) {
    wait_for("calling");
    double const until = seconds() + 9 * (seconds() - g_began);
    while (seconds() < until)
        usleep(1000);
}
static char* touched(size_t bytes) {
    char* memory = malloc(bytes);
    if (memory == NULL) exit(3);
    for (size_t i = 0; i < bytes; i += 512)
        memory[i] = (char)(i | 1);
    return memory;
}

NAMED static void late_sender(int rank) {
    int value = 1;
    if (rank == 0) {
        be_late();
        MPI_Send(&value, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
    } else {
        tell("calling");
        MPI_Recv(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}
NAMED static void late_receiver(int rank) {
    int value = 1;
    if (rank == 1) {
        be_late();
        MPI_Recv(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        tell("calling");
        MPI_Ssend(&value, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
    }
}
NAMED static void imbalance(int rank) {
    int mine = rank, sum = 0;
    if (rank == 1)
        be_late();
    else
        tell("calling");
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}
NAMED static void polling(int rank) {
    int value = 1, here = 0;
    if (rank == 0) {
        be_late();
        MPI_Send(&value, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
    } else {
        tell("calling");
        while (!here)
            MPI_Iprobe(0, 1, MPI_COMM_WORLD, &here, MPI_STATUS_IGNORE);
        MPI_Recv(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}
NAMED static void flood(int rank) {
    enum { messages = 6000, bytes = 4000 };
    int go = 1;
    char* buffer = touched(bytes);
    if (rank == 0) {
        for (int i = 0; i < messages; ++i)
            MPI_Send(buffer, bytes, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
        MPI_Send(&go, 1, MPI_INT, 1, 2, MPI_COMM_WORLD);
        return;
    }
    MPI_Recv(&go, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < messages; ++i)
        MPI_Recv(buffer, bytes, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
/* For three ranks: rank 2 is far ahead of rank 1, for which the root waits. */
NAMED static void reduce_ahead(int rank) {
    enum { calls = 30000, slow = 1000 };
    for (int i = 0; i < calls; ++i) {
        double values[8] = {rank}, sums[8];
        MPI_Reduce(values, sums, 8, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        if (rank == 1 && i < slow) usleep(1000);
    }
}
/* All sends are started before the first of them is waited for. */
NAMED static void burst(int rank) {
    enum { messages = 12000, bytes = 1000 };
    static MPI_Request open[messages];
    char* buffer = touched(bytes);
    int go = 1;
    if (rank == 0) {
        for (int i = 0; i < messages; ++i)
            MPI_Isend(buffer, bytes, MPI_CHAR, 1, 1, MPI_COMM_WORLD, &open[i]);
        MPI_Send(&go, 1, MPI_INT, 1, 2, MPI_COMM_WORLD);
        MPI_Waitall(messages, open, MPI_STATUSES_IGNORE);
        return;
    }
    MPI_Recv(&go, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < messages; ++i)
        MPI_Recv(buffer, bytes, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
NAMED static void larger(int rank) {
    char* memory = touched((size_t)(rank == 1 ? 96 : 4) << 20);
    MPI_Barrier(MPI_COMM_WORLD);
    usleep(300000); /* for samples of this state */
    free(memory);
}
/* Each request is complete, but no call says so. */
NAMED static void requests(int rank) {
    enum { messages = 200 };
    static int values[messages];
    int value = 1;
    for (int i = 0; i < messages; ++i) {
        MPI_Request open;
        if (rank == 1) MPI_Irecv(&values[i], 1, MPI_INT, 0, i, MPI_COMM_WORLD, &open);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        for (int i = 0; i < messages; ++i)
            MPI_Send(&value, 1, MPI_INT, 1, i, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}
NAMED static void communicators(int freed) {
    for (int i = 0; i < 120; ++i) {
        MPI_Comm copy;
        MPI_Comm_dup(MPI_COMM_WORLD, &copy);
        if (freed) MPI_Comm_free(&copy);
    }
}
NAMED static void types(int freed) {
    for (int i = 0; i < 3000; ++i) {
        MPI_Datatype type;
        MPI_Type_vector(10, 2, 3, MPI_DOUBLE, &type);
        MPI_Type_commit(&type);
        if (freed) MPI_Type_free(&type);
    }
}
/* One kind of object each, so many that its advice is said. */
static void add(void* in, void* inout, int* length, MPI_Datatype* type) {
    (void)in, (void)inout, (void)length, (void)type;
}
static void ignore(MPI_Comm* comm, int* code, ...) {
    (void)comm, (void)code;
}
/* With memory in them MPICH over UCX may abort in MPI_Finalize. */
NAMED static void windows(void) {
    MPI_Win window;
    for (int i = 0; i < 12; ++i)
        MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
}
NAMED static void groups(void) {
    MPI_Group all, one;
    int const first = 0;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    for (int i = 0; i < 130; ++i)
        MPI_Group_incl(all, 1, &first, &one);
    MPI_Group_free(&all);
}
NAMED static void operations(void) {
    MPI_Op op;
    for (int i = 0; i < 110; ++i)
        MPI_Op_create(add, 1, &op);
}
NAMED static void infos(void) {
    MPI_Info info;
    for (int i = 0; i < 140; ++i)
        MPI_Info_create(&info);
}
NAMED static void handlers(void) {
    MPI_Errhandler handler;
    for (int i = 0; i < 150; ++i)
        MPI_Comm_create_errhandler(ignore, &handler);
}
NAMED static void files(void) {
    MPI_File file;
    for (int i = 0; i < 11; ++i)
        MPI_File_open(MPI_COMM_SELF, "/dev/null", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
}
/* All that is made is freed, all that is started is completed, both ranks do the same. */
NAMED static void nothing(int rank) {
    enum { bytes = 4096 };
    char* out = touched(bytes);
    char* in = touched(bytes);
    char* field = touched(64 << 20);
    int other = 1 - rank;
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    types(1);
    for (int i = 0; i < 200; ++i) {
        MPI_Request open[2];
        MPI_Irecv(in, bytes, MPI_CHAR, other, 1, copy, &open[0]);
        MPI_Isend(out, bytes, MPI_CHAR, other, 1, copy, &open[1]);
        MPI_Waitall(2, open, MPI_STATUSES_IGNORE);
    }
    MPI_Comm_free(&copy);
    /* The work: the ranks may not reach it together on a busy machine, so it is much. */
    double const until = seconds() + 9 * (seconds() - g_began);
    while (seconds() < until)
        for (size_t i = 0; i < (64 << 20); i += 4096)
            field[i] = (char)(field[i] + 1);
    free(field);
}
/* The same array goes over and over: no copy is there to be saved. */
NAMED static void kept(int rank) {
    enum { bytes = 32 << 20 };
    char* data = touched(bytes);
    for (int i = 0; i < 4; ++i)
        if (rank == 0)
            MPI_Send(data, bytes, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
        else
            MPI_Recv(data, bytes, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    free(data);
}
/* A buffer is taken for each message and given back: at one address, in new memory. */
NAMED static void again(int rank) {
    enum { bytes = 32 << 20 };
    char* data = rank == 0 ? touched(bytes) : NULL;
    for (int i = 0; i < 6; ++i) {
        if (rank == 0) {
            MPI_Ssend(data, bytes, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
        } else {
            char* taken = aligned_alloc(4096, bytes);
            MPI_Recv(taken, bytes, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            free(taken);
        }
    }
    free(data);
}
/* What a communicator's copies have is taken when it is copied, and all copies are freed. */
static int copy_attribute(MPI_Comm comm, int key, void* extra, void* from, void* to, int* flag) {
    (void)comm, (void)key, (void)extra, (void)from;
    *(void**)to = touched(8 << 20);
    *flag = 1;
    return MPI_SUCCESS;
}
static int delete_attribute(MPI_Comm comm, int key, void* value, void* extra) {
    (void)comm, (void)key, (void)extra;
    free(value);
    return MPI_SUCCESS;
}
NAMED static void copies(void) {
    enum { number = 6 };
    MPI_Comm copy[number];
    int key = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(copy_attribute, delete_attribute, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, touched(16));
    for (int i = 0; i < number; ++i)
        MPI_Comm_dup(MPI_COMM_WORLD, &copy[i]);
    usleep(100000); /* for samples of this state */
    for (int i = 0; i < number; ++i)
        MPI_Comm_free(&copy[i]);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
    MPI_Comm_free_keyval(&key);
}
/* The program's own operator takes memory when it runs first, and keeps it. */
static void add_and_keep(void* in, void* inout, int* length, MPI_Datatype* type) {
    static char* kept;
    if (kept == NULL) kept = touched(32 << 20);
    add(in, inout, length, type);
}
NAMED static void operators(void) {
    enum { numbers = 1000 };
    static int mine[numbers], sums[numbers];
    MPI_Op own;
    MPI_Op_create(add_and_keep, 1, &own);
    for (int i = 0; i < 10; ++i)
        MPI_Allreduce(mine, sums, numbers, MPI_INT, own, MPI_COMM_WORLD);
    usleep(100000); /* for samples of this state */
    MPI_Op_free(&own);
}
/* Several messages are received at once, each into memory that was taken for it. */
NAMED static void fresh(int rank) {
    enum { bytes = 4 << 20, at_once = 8, rounds = 3 };
    char* data = touched(bytes);
    for (int round = 0; round < rounds; ++round) {
        MPI_Request open[at_once];
        char* taken[at_once];
        for (int i = 0; i < at_once; ++i) {
            taken[i] = rank == 1 ? aligned_alloc(4096, bytes) : data;
            if (rank == 1)
                MPI_Irecv(taken[i], bytes, MPI_CHAR, 0, i, MPI_COMM_WORLD, &open[i]);
            else
                MPI_Isend(taken[i], bytes, MPI_CHAR, 1, i, MPI_COMM_WORLD, &open[i]);
        }
        MPI_Waitall(at_once, open, MPI_STATUSES_IGNORE);
        for (int i = 0; rank == 1 && i < at_once; ++i)
            free(taken[i]);
    }
    free(data);
}
NAMED static void exchange(void* sent, int rank) {
    enum { bytes = 16 << 20 };
    char* data = touched(2 * bytes);
    (void)rank;
    for (int i = 0; i < 4; ++i)
        MPI_Alltoall(sent == NULL ? data + bytes : sent, bytes / 2, MPI_CHAR, data, bytes / 2, MPI_CHAR,
                     MPI_COMM_WORLD);
    free(data);
}
NAMED static void reduce_in_place(void) {
    enum { count = 8 << 20 };
    float* data = (float*)touched(count * sizeof(float));
    for (int i = 0; i < 3; ++i)
        MPI_Allreduce(MPI_IN_PLACE, data, count, MPI_FLOAT, MPI_MAX, MPI_COMM_WORLD);
    free(data);
}
/* The data are received once, in parts that stay where they are: less in flight would save nothing. */
NAMED static void once(int rank) {
    enum { bytes = 4 << 20, parts = 12 };
    MPI_Request open[parts];
    char* data = rank == 1 ? aligned_alloc(4096, (size_t)bytes * parts) : touched((size_t)bytes * parts);
    if (data == NULL) exit(3);
    for (int i = 0; i < parts; ++i)
        if (rank == 1)
            MPI_Irecv(data + (size_t)i * bytes, bytes, MPI_CHAR, 0, i, MPI_COMM_WORLD, &open[i]);
        else
            MPI_Isend(data + (size_t)i * bytes, bytes, MPI_CHAR, 1, i, MPI_COMM_WORLD, &open[i]);
    MPI_Waitall(parts, open, MPI_STATUSES_IGNORE);
    free(data);
}
/* Each rank has every second block of the file, so one rank gathers what both write. */
NAMED static void collective_file(int rank) {
    enum { blocks = 4096, block = 4096 };
    char path[4096];
    snprintf(path, sizeof path, "%s/data", g_folder);
    char* data = touched((size_t)blocks * block);
    MPI_File file;
    MPI_Datatype type;
    MPI_Type_vector(blocks, block, 2 * block, MPI_CHAR, &type);
    MPI_Type_commit(&type);
    MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    MPI_File_set_view(file, rank * block, MPI_CHAR, type, "native", MPI_INFO_NULL);
    for (int i = 0; i < 3; ++i)
        MPI_File_write_at_all(file, (MPI_Offset)i * blocks * block, data, blocks * block, MPI_CHAR, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    MPI_Type_free(&type);
    free(data);
}
/* The MPI takes a third buffer for each call and gives it back. */
NAMED static void reduce_into_another(void) {
    enum { count = 16 << 20 };
    float* data = (float*)touched(count * sizeof(float));
    float* sums = (float*)touched(count * sizeof(float));
    for (int i = 0; i < 5; ++i)
        MPI_Allreduce(data, sums, count, MPI_FLOAT, MPI_MAX, MPI_COMM_WORLD);
    free(sums);
    free(data);
}
/* Rank 1 waits for a message of rank 0, which is in MPI_Finalize: for ever, until the job is killed. */
NAMED static void hang(int rank, int gone) {
    int value = 0;
    if (rank == 1) {
        tell("calling");
        MPI_Recv(&value, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    wait_for("calling");
    if (gone) pause();
}

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    char const* mode = argv[1];
    g_folder = argv[2];
    g_began = seconds();
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char pid[64];
    snprintf(pid, sizeof pid, "rank-%d-%ld", rank, (long)getpid());
    tell(pid);
    if (!strcmp(mode, "late_sender"))
        late_sender(rank);
    else if (!strcmp(mode, "late_receiver"))
        late_receiver(rank);
    else if (!strcmp(mode, "imbalance"))
        imbalance(rank);
    else if (!strcmp(mode, "polling"))
        polling(rank);
    else if (!strcmp(mode, "flood"))
        flood(rank);
    else if (!strcmp(mode, "rooted"))
        reduce_ahead(rank);
    else if (!strcmp(mode, "burst"))
        burst(rank);
    else if (!strcmp(mode, "larger"))
        larger(rank);
    else if (!strcmp(mode, "requests"))
        requests(rank);
    else if (!strcmp(mode, "communicators"))
        communicators(0);
    else if (!strcmp(mode, "freed"))
        communicators(1);
    else if (!strcmp(mode, "types"))
        types(0);
    else if (!strcmp(mode, "windows"))
        windows();
    else if (!strcmp(mode, "groups"))
        groups();
    else if (!strcmp(mode, "operations"))
        operations();
    else if (!strcmp(mode, "infos"))
        infos();
    else if (!strcmp(mode, "handlers"))
        handlers();
    else if (!strcmp(mode, "files"))
        files();
    else if (!strcmp(mode, "nothing"))
        nothing(rank);
    else if (!strcmp(mode, "kept"))
        kept(rank);
    else if (!strcmp(mode, "again"))
        again(rank);
    else if (!strcmp(mode, "copies"))
        copies();
    else if (!strcmp(mode, "operators"))
        operators();
    else if (!strcmp(mode, "fresh"))
        fresh(rank);
    else if (!strcmp(mode, "once"))
        once(rank);
    else if (!strcmp(mode, "file"))
        collective_file(rank);
    else if (!strcmp(mode, "passing"))
        reduce_into_another();
    else if (!strcmp(mode, "alltoall"))
        exchange(NULL, rank);
    else if (!strcmp(mode, "inplace_off"))
        exchange(MPI_IN_PLACE, rank);
    else if (!strcmp(mode, "allreduce"))
        reduce_in_place();
    else if (!strcmp(mode, "hang"))
        hang(rank, 0);
    else if (!strcmp(mode, "hang_alive"))
        hang(rank, 1);
    else
        return 2;
    MPI_Finalize();
    return 0;
}
