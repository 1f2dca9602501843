/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that communicates in each common way, and then prints what the kernel says of its memory, for own.py:
 *
 *     kernel RANK ANONYMOUS PRIVATE OWN
 *
 * in KiB. ANONYMOUS: pages that belong to no file, or have been written since they were mapped from one. PRIVATE: pages
 * that no other process maps. OWN: resident pages of Sluice's files, shared ones too, that are in neither of the
 * others: libsluice-preload-*.so and node-*.sluice. With an argument, all mappings go to the file ARGUMENT.RANK. */
#include <malloc.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most = 1 << 20, rounds = 20 };

static char* out;
static char* in;

static void pairs(int rank, int size) {
    int const sizes[] = {8, 4096, 65536, most};
    int const next = (rank + 1) % size, previous = (rank + size - 1) % size;
    for (int i = 0; i < 4 * rounds; ++i) {
        MPI_Request requests[2];
        MPI_Status statuses[2];
        int const bytes = sizes[i % 4];
        MPI_Sendrecv(out, bytes, MPI_CHAR, next, 1, in, bytes, MPI_CHAR, previous, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        MPI_Irecv(in, bytes, MPI_CHAR, previous, 2, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(out, bytes, MPI_CHAR, next, 2, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, statuses);
    }
}

static void collectives(int size) {
    for (int i = 0; i < rounds; ++i) {
        int const bytes = (i % 2 == 0 ? 64 : most) / size;
        MPI_Alltoall(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, MPI_COMM_WORLD);
        MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, bytes, MPI_CHAR, MPI_COMM_WORLD);
        MPI_Allreduce(out, in, bytes / 8, MPI_LONG, MPI_MIN, MPI_COMM_WORLD);
        MPI_Allgather(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, MPI_COMM_WORLD);
        MPI_Bcast(out, bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static int is_sluices(char const* path) {
    char const* const name = strrchr(path, '/');
    if (name == NULL) return 0;
    size_t const length = strcspn(name, " \n");
    return strncmp(name, "/libsluice-preload-", 19) == 0 ||
           (length > 7 && strncmp(name + length - 7, ".sluice", 7) == 0);
}

static void tell(int rank, char const* copy) {
    static char line[4096];
    long anonymous = 0, private_pages = 0, own = 0, kib = 0, resident = 0;
    int ours = 0;
    FILE* const maps = fopen("/proc/self/smaps", "r");
    FILE* to = NULL;
    if (copy != NULL) {
        snprintf(line, sizeof line, "%s.%d", copy, rank);
        to = fopen(line, "w");
    }
    if (maps == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
    while (fgets(line, sizeof line, maps) != NULL) {
        if (to != NULL) fputs(line, to);
        unsigned long begin, end;
        if (sscanf(line, "%lx-%lx ", &begin, &end) == 2) {
            ours = is_sluices(line);
        } else if (sscanf(line, "Rss: %ld", &kib) == 1) {
            resident = kib;
        } else if (sscanf(line, "Private_Clean: %ld", &kib) == 1 || sscanf(line, "Private_Dirty: %ld", &kib) == 1) {
            if (!ours) private_pages += kib;
        } else if (sscanf(line, "Anonymous: %ld", &kib) == 1) {
            anonymous += kib;
            if (ours) {
                private_pages += kib;
                own += resident - kib;
            }
        }
    }
    fclose(maps);
    if (to != NULL) fclose(to);
    printf("kernel %d %ld %ld %ld\n", rank, anonymous, private_pages, own);
}

int main(int argc, char** argv) {
    int rank, size;
    MPI_Comm other;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    out = malloc(most);
    in = malloc(most);
    memset(out, 1, most);
    memset(in, 1, most);
    pairs(rank, size);
    collectives(size);
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    MPI_Barrier(other);
    MPI_Comm_free(&other);
    MPI_Barrier(MPI_COMM_WORLD);
    malloc_trim(0); /* free pages in the heap are the allocator's */
    tell(rank, argc > 1 ? argv[1] : NULL);
    fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
