/* SPDX-License-Identifier: BSD-3-Clause */
// Where the buffer lies: on the stack of the program or of another thread, and in a process that can have no more
// mappings, so nothing can be taken aside.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "pending.h"
#include "transcript.h"

enum { k_bytes = 1 << 20, k_page = 4096, k_most_mappings = 1 << 20 };
static unsigned char* others_buffer;  // on the stack of the other thread
static pthread_barrier_t meeting;

static void receive_into(unsigned char* buffer, int tag) {
    MPI_Status status = untouched_status();
    MPI_Recv(buffer, k_bytes, MPI_BYTE, partner(), tag, MPI_COMM_WORLD, &status);
    count_touch(buffer + k_bytes / 2);
    say_status("received", &status, MPI_BYTE);
}

static void exchange(char const* name, unsigned char* buffer, int tag) {
    say("-- %s", name);
    fill(buffer, k_bytes, (unsigned)(me * 10 + tag));
    MPI_Barrier(MPI_COMM_WORLD);
    if (receives()) {
        receive_into(buffer, tag);
        say_bytes("all", buffer, k_bytes);
    } else {
        send_slowly(buffer, k_bytes, partner(), tag);
    }
}

static void on_my_stack(void) {
    _Alignas(k_page) unsigned char buffer[k_bytes];
    exchange("stack", buffer, 1);
}

// It looks at its own stack while the program's thread has long left the receive.
static void* lend_a_stack(void* argument) {
    _Alignas(k_page) unsigned char buffer[k_bytes];
    fill(buffer, k_bytes, (unsigned)me);
    others_buffer = buffer;
    pthread_barrier_wait(&meeting);  // the program's thread receives
    pthread_barrier_wait(&meeting);
    *(uint64_t*)argument = checksum(buffer, k_bytes);
    return NULL;
}

static void on_the_stack_of_a_thread(void) {
    pthread_t thread;
    uint64_t sum = 0;
    say("-- stack of a thread");
    pthread_barrier_init(&meeting, NULL, 2);
    if (pthread_create(&thread, NULL, lend_a_stack, &sum) != 0) exit(92);
    pthread_barrier_wait(&meeting);
    MPI_Barrier(MPI_COMM_WORLD);
    if (receives())
        receive_into(others_buffer, 2);
    else
        send_slowly(others_buffer, k_bytes, partner(), 2);
    pthread_barrier_wait(&meeting);
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&meeting);
    say("the thread saw %016llx", (unsigned long long)sum);
}

// Neighbours with other rights are mappings of their own.
static void without_mappings(void) {
    unsigned char* buffer = whole_pages(k_bytes, 3);
    unsigned char** maps = calloc(k_most_mappings, sizeof *maps);
    int used = 0;
    if (maps == NULL) exit(93);
    MPI_Barrier(MPI_COMM_WORLD);
    if (receives()) {
        while (used < k_most_mappings) {
            int const rights = used % 2 == 0 ? PROT_READ : PROT_NONE;
            void* map = mmap(NULL, k_page, rights, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            if (map == MAP_FAILED) break;
            maps[used++] = map;
        }
    }
    exchange("no mapping left", buffer, 3);
    while (used > 0)
        munmap(maps[--used], k_page);
    exchange("mappings again", buffer, 4);
    free(maps);
    munmap(buffer, k_bytes);
}

int main(int argc, char** argv) {
    begin(&argc, &argv);
    expect_early_returns();
    if (partner() >= 0) {
        on_my_stack();
        on_the_stack_of_a_thread();
        without_mappings();
    } else {
        for (int i = 0; i < 5; ++i)
            MPI_Barrier(MPI_COMM_WORLD);
    }
    return end();
}
