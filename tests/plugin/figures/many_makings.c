/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes many objects of one kind and keeps them. Prints what making_costs.py compares:
 *
 *     made NUMBER READS GROWN_KIB TAKEN_KIB US    reads of files by this thread, growth of the process, what of it the
 *                                                 program took itself, and microseconds of the makings
 *
 * many_makings KIND NUMBER [BYTES]: type, group or request; BYTES that the program takes beside each. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long number_in(char const* path, char const* what) {
    char line[256];
    long found = -1;
    FILE* file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        if (!strncmp(line, what, strlen(what))) found = atol(line + strlen(what));
    if (file) fclose(file);
    return found;
}

static int value;

static void make(char const* kind, MPI_Datatype* type, MPI_Request* request) {
    MPI_Group world, first;
    int const rank = 0;
    if (!strcmp(kind, "type")) MPI_Type_vector(3, 1, 2, MPI_INT, type);
    if (!strcmp(kind, "request")) MPI_Recv_init(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, request);
    if (strcmp(kind, "group")) return;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &rank, &first);
    MPI_Group_free(&world);
}

int main(int argc, char** argv) {
    char const* const kind = argv[1];
    long const number = atol(argv[2]);
    size_t const bytes = argc > 3 ? (size_t)atol(argv[3]) : 0;
    MPI_Init(&argc, &argv);
    size_t const handles = (size_t)number * (sizeof(MPI_Datatype) + sizeof(MPI_Request));
    char* const kept = malloc(handles);
    char* const own = malloc((size_t)number * bytes + 1);
    memset(kept, 0, handles);
    long const reads = number_in("/proc/thread-self/io", "syscr:");
    long const before = number_in("/proc/self/status", "RssAnon:");
    double const began = MPI_Wtime();
    for (long i = 0; i < number; ++i) {
        make(kind, (MPI_Datatype*)kept + i, (MPI_Request*)(kept + (size_t)number * sizeof(MPI_Datatype)) + i);
        memset(own + (size_t)i * bytes, 1, bytes);
    }
    long const after = number_in("/proc/self/status", "RssAnon:");
    double const us = (MPI_Wtime() - began) * 1e6;
    printf("made %ld %ld %ld %zu %.0f\n", number, number_in("/proc/thread-self/io", "syscr:") - reads, after - before,
           (size_t)number * bytes / 1024, us);
    fflush(stdout);
    usleep(300000); /* so that the last sample shows this state */
    MPI_Finalize();
    return 0;
}
