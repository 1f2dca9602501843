/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks with shared memory of their own, for segments.py:
 *
 *     segments own       each rank receives into shared memory that no other rank maps
 *     segments common    all ranks map the same shared memory and use all of it
 *
 * Prints "kernel RANK PSS SHARED" in KiB, read while all ranks have it; the first without pages of files. */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static size_t const bytes = (size_t)48 << 20;

static long of_kernel(char const* path, char const* key) {
    char line[512];
    long kib = -1;
    FILE* const file = fopen(path, "r");
    while (file != NULL && kib < 0 && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, key, strlen(key)) == 0) kib = atol(line + strlen(key));
    if (file != NULL) fclose(file);
    return kib;
}

static char* mapped(int descriptor) {
    int const flags = descriptor < 0 ? MAP_SHARED | MAP_ANONYMOUS : MAP_SHARED;
    void* const at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, descriptor, 0);
    if (at == MAP_FAILED) MPI_Abort(MPI_COMM_WORLD, 1);
    return at;
}

static void own(int rank, int size) {
    char* const into = mapped(-1);
    char* const from = malloc(bytes);
    memset(from, 1, bytes);
    MPI_Sendrecv(from, (int)bytes, MPI_CHAR, (rank + 1) % size, 1, into, (int)bytes, MPI_CHAR, (rank + size - 1) % size,
                 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    free(from);
}

static void common(int rank) {
    int process = getpid();
    char name[64];
    MPI_Bcast(&process, 1, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(name, sizeof name, "/segments-of-%d", process);
    if (rank > 0) MPI_Barrier(MPI_COMM_WORLD);
    int const descriptor = shm_open(name, O_RDWR | (rank == 0 ? O_CREAT | O_EXCL : 0), 0600);
    if (descriptor < 0 || (rank == 0 && ftruncate(descriptor, (off_t)bytes) != 0)) MPI_Abort(MPI_COMM_WORLD, 1);
    if (rank == 0) MPI_Barrier(MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) shm_unlink(name);
    memset(mapped(descriptor), 1, bytes);
}

int main(int argc, char** argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 1 && strcmp(argv[1], "own") == 0)
        own(rank, size);
    else
        common(rank);
    usleep(200000); /* for samples */
    MPI_Barrier(MPI_COMM_WORLD);
    printf("kernel %d %ld %ld\n", rank,
           of_kernel("/proc/self/smaps_rollup", "Pss_Anon:") + of_kernel("/proc/self/smaps_rollup", "Pss_Shmem:"),
           of_kernel("/proc/self/status", "RssShmem:"));
    fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
