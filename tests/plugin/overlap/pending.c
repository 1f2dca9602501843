/* SPDX-License-Identifier: BSD-3-Clause */
#include "pending.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "absent.h"
#include "transcript.h"

int hold_ms = 30;
static int absent = 0;
static pid_t counter = 0;

static void say_touches(void) {
    if (absent != 0 && getpid() == counter)
        fprintf(stderr, "sluice test: %d touches of pages that were pending\n", absent);
}

int are_errors_always_fatal(void) {
    return getenv("EQUALITY_ERRORS_ARE_FATAL") != NULL;
}

void expect_early_returns(void) {
    if (!are_errors_always_fatal()) {
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    }
    counter = getpid();
    atexit(say_touches);
}

int partner(void) {
    int const other = me ^ 1;
    return other < ranks ? other : -1;
}

int receives(void) {
    return me % 2 == 0;
}

static void rest(int ms) {
    struct timespec left = {ms / 1000, (ms % 1000) * 1000000L};
    while (nanosleep(&left, &left) != 0) {
    }
}

void send_slowly_on(MPI_Comm comm, void const* data, size_t bytes, int to, int tag) {
    MPI_Request request;
    MPI_Isend(data, (int)bytes, MPI_BYTE, to, tag, comm, &request);
    rest(hold_ms);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

void send_slowly(void const* data, size_t bytes, int to, int tag) {
    send_slowly_on(MPI_COMM_WORLD, data, bytes, to, tag);
}

void count_touch(void const* address) {
    if (is_absent(address)) ++absent;
}

void* whole_pages(size_t bytes, int value) {
    void* pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) {
        perror("mmap");
        exit(91);
    }
    memset(pages, value, bytes);
    return pages;
}
