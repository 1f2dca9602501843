// SPDX-License-Identifier: BSD-3-Clause
// How many descriptors a rank has, with none of its own: counted [LIMIT|lower]. Prints what it has before, inside and
// after MPI, which number its next open() gets, and what a child of fork() and a program that the child becomes have
// inherited. With LIMIT the rank lowers its soft limit to it before MPI_Init; with `lower` it takes it so low for a
// while after MPI_Init that no descriptor is free.
#include <dirent.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static int descriptors(void) {
    DIR* const listing = opendir("/proc/self/fd");
    if (listing == NULL) return -1;
    int count = -1;  // that of the listing
    for (struct dirent const* entry; (entry = readdir(listing)) != NULL;)
        if (entry->d_name[0] != '.') ++count;
    closedir(listing);
    return count;
}

/// With a program the child becomes that.
static int in_child(char* program) {
    char* const arguments[] = {program, "child", NULL};
    int status = 0;
    pid_t const child = fork();
    if (child == 0 && program != NULL) execv(program, arguments);
    if (child == 0) _exit(descriptors());
    return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static long work(int rank, int size);

/// Works while no descriptor is free.
static long work_without(int rank, int size, struct rlimit const* limit) {
    struct rlimit low = *limit;
    low.rlim_cur = (rlim_t)dup(0);  // the lowest number that is free
    close((int)low.rlim_cur);
    setrlimit(RLIMIT_NOFILE, &low);
    long const sum = work(rank, size);
    setrlimit(RLIMIT_NOFILE, limit);
    return sum;
}

/// Sends, receives and reduces in sizes that go every way that an MPI has between ranks of a node.
static long work(int rank, int size) {
    long sum = 0;
    for (size_t bytes = 8; bytes <= 4 << 20; bytes *= 8) {
        char* const out = malloc(bytes);
        char* const in = malloc(bytes);
        memset(out, rank + 1, bytes);
        MPI_Sendrecv(out, (int)bytes, MPI_BYTE, (rank + 1) % size, 1, in, (int)bytes, MPI_BYTE,
                     (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        sum += in[bytes - 1];
        free(out);
        free(in);
    }
    int* const blocks = malloc((size_t)size * 4096 * sizeof *blocks);
    for (int i = 0; i < size * 4096; ++i)
        blocks[i] = rank;
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, blocks, 4096, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < size * 4096; ++i)
        sum += blocks[i];
    free(blocks);
    long all = 0;
    MPI_Allreduce(&sum, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

int main(int argc, char** argv) {
    char const* const how = argc > 1 ? argv[1] : "";
    if (strcmp(how, "child") == 0) return descriptors();
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    if (atol(how) > 0) limit.rlim_cur = (rlim_t)atol(how);
    setrlimit(RLIMIT_NOFILE, &limit);
    int const before = descriptors();
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    long sum = work(rank, size);
    if (strcmp(how, "lower") == 0) sum += work_without(rank, size, &limit);
    int const inside = descriptors();
    int const child = in_child(NULL);
    int const executed = in_child(argv[0]);
    int const first = dup(0);  // the number that the next open() gets
    close(first);
    MPI_Finalize();
    printf("rank %d sum %ld before %d first %d child %d executed %d after %d inside %d\n", rank, sum, before, first,
           child, executed, descriptors(), inside);
    return 0;
}
