/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that knows which memory belongs to MPI: it reads its own resident pages around every MPI call that may
 * allocate, and prints what MPI took ("truth RANK OWNER KIB") for known.py to compare with the report. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct pages {
    long private_kib, shared_kib;
};

static struct pages resident(void) {
    struct pages now = {0, 0};
    long size, all, shared;
    FILE* file = fopen("/proc/self/statm", "r");
    if (file && fscanf(file, "%ld %ld %ld", &size, &all, &shared) == 3) {
        long page = sysconf(_SC_PAGESIZE) / 1024;
        now.private_kib = (all - shared) * page;
        now.shared_kib = shared * page;
    }
    if (file) fclose(file);
    return now;
}

static struct pages taken; /* taken by MPI, as far as this program knows */

#define INSIDE_MPI(own_kib, call)                                                \
    do {                                                                         \
        struct pages before = resident();                                        \
        call;                                                                    \
        struct pages after = resident();                                         \
        taken.private_kib += after.private_kib - before.private_kib - (own_kib); \
        taken.shared_kib += after.shared_kib - before.shared_kib;                \
    } while (0)

static char* touched(size_t bytes) {
    char* memory = malloc(bytes);
    memset(memory, 1, bytes);
    return memory;
}

/* The application's own memory, outside MPI. */
static void application(int rank) {
    touched((size_t)(rank + 1) << 25);
}

/* Messages wait in MPI until they are received. */
static void unexpected(int rank, int size) {
    enum { messages = 8000, bytes = 4000 };
    int go = 1;
    if (rank > 0) {
        char* buffer = touched(bytes);
        for (int i = 0; i < messages; ++i)
            INSIDE_MPI(0, MPI_Send(buffer, bytes, MPI_CHAR, 0, 1, MPI_COMM_WORLD));
        INSIDE_MPI(0, MPI_Send(&go, 1, MPI_INT, 0, 2, MPI_COMM_WORLD));
        return;
    }
    for (int source = 1; source < size; ++source)
        INSIDE_MPI(0, MPI_Recv(&go, 1, MPI_INT, source, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    char* buffer = touched(bytes);
    for (int i = 0; i < messages * (size - 1); ++i)
        INSIDE_MPI(0, MPI_Recv(buffer, bytes, MPI_CHAR, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

/* Buffers of the application whose pages become resident inside MPI. A first exchange warms up, because the
 * transport's own buffers belong to MPI. */
static void fresh_buffers(int rank, int size) {
    enum { bytes = 1 << 20, rounds = 32 };
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    char* out = touched(bytes);
    char* warm = touched(bytes);
    for (int i = 0; i < 4; ++i)
        INSIDE_MPI(0, MPI_Sendrecv(out, bytes, MPI_CHAR, next, 3, warm, bytes, MPI_CHAR, previous, 3, MPI_COMM_WORLD,
                                   MPI_STATUS_IGNORE));
    for (int i = 0; i < rounds; ++i) {
        char* fresh = aligned_alloc(4096, bytes);
        if (i % 2 == 0) {
            INSIDE_MPI(bytes / 1024, MPI_Sendrecv(out, bytes, MPI_CHAR, next, 3, fresh, bytes, MPI_CHAR, previous, 3,
                                                  MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        } else {
            MPI_Request open[2];
            INSIDE_MPI(0, MPI_Irecv(fresh, bytes, MPI_CHAR, previous, 4, MPI_COMM_WORLD, &open[0]));
            INSIDE_MPI(0, MPI_Isend(out, bytes, MPI_CHAR, next, 4, MPI_COMM_WORLD, &open[1]));
            INSIDE_MPI(bytes / 1024, MPI_Waitall(2, open, MPI_STATUSES_IGNORE));
        }
    }
}

static void communicators(void) {
    enum { number = 500 };
    static MPI_Comm made[number];
    for (int i = 0; i < number; ++i)
        INSIDE_MPI(0, MPI_Comm_dup(MPI_COMM_WORLD, &made[i]));
}

/* In all-to-alls in place, the staging belongs to Sluice. */
static void in_place(int size) {
    size_t bytes = (size_t)size << 20;
    char* blocks = touched(bytes);
    for (int i = 0; i < 5; ++i)
        MPI_Alltoall(MPI_IN_PLACE, 0, MPI_CHAR, blocks, 1 << 20, MPI_CHAR, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
    char const* what = argc > 1 ? argv[1] : "application";
    int rank, size;
    INSIDE_MPI(0, MPI_Init(&argc, &argv));
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (!strcmp(what, "application")) application(rank);
    if (!strcmp(what, "unexpected")) unexpected(rank, size);
    if (!strcmp(what, "fresh")) fresh_buffers(rank, size);
    if (!strcmp(what, "communicators")) communicators();
    if (!strcmp(what, "inplace")) in_place(size);
    if (strcmp(what, "inplace")) {
        printf("truth %d mpi_private %ld\ntruth %d mpi_shared %ld\n", rank, taken.private_kib, rank, taken.shared_kib);
        fflush(stdout);
    }
    usleep(300000); /* so that the last sample shows this state */
    MPI_Finalize();
    return 0;
}
