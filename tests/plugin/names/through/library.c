/* SPDX-License-Identifier: BSD-3-Clause */
/* Stands for a library that calls MPI for the program, on ways of several lengths, and has a thread of its own. */
#include "library.h"

#include <mpi.h>
#include <pthread.h>
#include <string.h>

__attribute__((noinline)) static int meet(char* room, int bytes) {
    memset(room, bytes, (size_t)bytes);
    int const code = MPI_Barrier(MPI_COMM_WORLD);
    return code + room[0] - room[bytes - 1];
}

__attribute__((noinline)) int library_meets(int depth) {
    char room[64 * 1024];
    if (depth > 0) return library_meets(depth - 1) + 1;
    return meet(room, sizeof room);
}

static void* run(void* room) {
    meet(room, 16);
    return NULL;
}

int library_meets_in_thread(void) {
    char room[16];
    pthread_t thread;
    if (pthread_create(&thread, NULL, run, room) != 0) return 1;
    return pthread_join(thread, NULL);
}

int library_meets_on(char* room, int bytes) {
    return meet(room, bytes) + 1;
}
