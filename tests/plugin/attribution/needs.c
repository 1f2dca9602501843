/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs whose memory is known, for needs.py: needs MODE FOLDER
 *
 *     mapped     rank 0 sends from a file of 96 MiB that it has mapped, in FOLDER
 *     early      each rank takes and gives back 96 MiB before MPI_Init
 *     gather     rank 0 takes a buffer for all ranks' data, gathers them, and gives it back, again and again
 *     rebalance  each rank packs its data into one buffer and receives others' into a second one
 *     sizes      rank 0 holds 96 MiB and hardly communicates; rank 1 sends 24 MiB to the last rank
 *
 * Prints "kernel RANK PEAK": the peak of the rank in KiB, as the kernel says. */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { mib = 1 << 20, large = 96 * mib, medium = 24 * mib };

/* The report names the function of a call: it stays a function. */
#define NAMED __attribute__((noinline))

static int g_rank, g_ranks;

static long peak_kib(void) {
    char line[512];
    long kib = -1;
    FILE* const file = fopen("/proc/self/status", "r");
    if (file == NULL) return -1;
    while (kib < 0 && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "VmHWM:", 6) == 0) kib = atol(line + 6);
    fclose(file);
    return kib;
}
static char* taken(size_t bytes) {
    char* const memory = malloc(bytes);
    if (memory == NULL) exit(3);
    return memory;
}
static char* touched(size_t bytes) {
    char volatile* const memory = taken(bytes); /* else a compiler sees that nothing reads it */
    for (size_t i = 0; i < bytes; i += 1024)
        memory[i] = 1;
    return (char*)memory;
}
static void let_samples_come(void) {
    usleep(200000);
}

static char const* mapped_file(char const* folder) {
    char path[4096];
    snprintf(path, sizeof path, "%s/mapped", folder);
    int const file = open(path, O_CREAT | O_RDWR, 0600);
    char* const block = touched(mib);
    for (int i = 0; i < large / mib; ++i)
        if (write(file, block, mib) != mib) exit(3);
    if (fsync(file) != 0) exit(3); /* else the pages cannot be dropped */
    free(block);
    char const* const memory = mmap(NULL, large, PROT_READ, MAP_PRIVATE, file, 0);
    if (memory == MAP_FAILED) exit(3);
    close(file);
    return memory;
}
NAMED static void mapped(char const* folder) {
    enum { part = 4 * mib };
    if (g_rank == 0) {
        char const* const file = mapped_file(folder);
        for (int at = 0; at < large; at += part)
            MPI_Send(file + at, part, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        let_samples_come();
    } else if (g_rank == 1) {
        char* const data = taken(part);
        for (int at = 0; at < large; at += part)
            MPI_Recv(data, part, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        free(data);
    }
}
NAMED static void gather(char const* mine) {
    int counts[64], at[64];
    for (int i = 0; i < g_ranks; ++i) {
        counts[i] = medium;
        at[i] = i * medium;
    }
    for (int round = 0; round < 4; ++round) {
        char* const all = g_rank == 0 ? taken((size_t)medium * (size_t)g_ranks) : NULL;
        MPI_Gatherv(mine, medium, MPI_BYTE, all, counts, at, MPI_BYTE, 0, MPI_COMM_WORLD);
        let_samples_come();
        free(all);
    }
}
NAMED static void rebalance(char* data) {
    int counts[64], at[64], part = medium / g_ranks;
    for (int i = 0; i < g_ranks; ++i) {
        counts[i] = part;
        at[i] = i * part;
    }
    for (int round = 0; round < 4; ++round) {
        char *const out = taken(medium), *const in = taken(medium);
        memcpy(out, data, medium);
        MPI_Alltoallv(out, counts, at, MPI_BYTE, in, counts, at, MPI_BYTE, MPI_COMM_WORLD);
        memcpy(data, in, (size_t)part * (size_t)g_ranks);
        let_samples_come();
        free(out);
        free(in);
    }
}
NAMED static void sizes(void) {
    char* const data = touched(g_rank == 0 ? large : medium);
    int const last = g_ranks - 1;
    if (g_rank == 1) {
        MPI_Request open;
        MPI_Isend(data, medium, MPI_BYTE, last, 0, MPI_COMM_WORLD, &open);
        let_samples_come();
        MPI_Wait(&open, MPI_STATUS_IGNORE);
    }
    if (g_rank == last && last > 1) {
        let_samples_come();
        MPI_Recv(data, medium, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    free(data);
}

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    char const* const mode = argv[1];
    if (strcmp(mode, "early") == 0) free(touched(large));
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &g_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &g_ranks);
    char* const mine = strcmp(mode, "gather") == 0 || strcmp(mode, "rebalance") == 0 ? touched(medium) : NULL;
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(mode, "mapped") == 0)
        mapped(argv[2]);
    else if (strcmp(mode, "gather") == 0)
        gather(mine);
    else if (strcmp(mode, "rebalance") == 0)
        rebalance(mine);
    else if (strcmp(mode, "sizes") == 0)
        sizes();
    else if (strcmp(mode, "early") == 0)
        let_samples_come();
    else
        return 2;
    free(mine);
    MPI_Finalize();
    printf("kernel %d %ld\n", g_rank, peak_kib());
    return 0;
}
