/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that knows from the kernel what it held, for peaks.py:
 *
 *     peaks hello        MPI_Init and MPI_Finalize
 *     peaks before MIB   takes and gives back memory before MPI_Init
 *     peaks exec MIB     the same, and then begins another program in its process: peaks hello
 *
 * Prints "kernel RANK PEAK SHARED FILES" in KiB: the peak after MPI_Finalize, the other two before it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long of_kernel(char const* key) {
    char line[512];
    long kib = -1;
    FILE* const file = fopen("/proc/self/status", "r");
    if (file == NULL) return -1;
    while (kib < 0 && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, key, strlen(key)) == 0) kib = atol(line + strlen(key));
    fclose(file);
    return kib;
}

static void take_and_give_back(char const* mib) {
    size_t const bytes = (size_t)atol(mib) << 20;
    char volatile* const memory = malloc(bytes); /* else a compiler sees that nothing reads it */
    if (memory == NULL) exit(1);
    for (size_t i = 0; i < bytes; i += 1024)
        memory[i] = 1;
    free((void*)memory);
}

int main(int argc, char** argv) {
    int rank;
    char const* const what = argc > 1 ? argv[1] : "hello";
    if (argc > 2) take_and_give_back(argv[2]);
    if (strcmp(what, "exec") == 0) {
        execl("/proc/self/exe", argv[0], "hello", (char*)NULL);
        return 1;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    long const shared = of_kernel("RssShmem:"), files = of_kernel("RssFile:");
    MPI_Finalize();
    printf("kernel %d %ld %ld %ld\n", rank, of_kernel("VmHWM:"), shared, files);
    return 0;
}
