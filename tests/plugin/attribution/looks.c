/* SPDX-License-Identifier: BSD-3-Clause */
/* looks MODE: short messages into buffers that have room for much more, and how many pages the kernel was asked about
 * for them: less than a half of all pages of all calls. Modes: received, requested, many, windows, attached. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long g_pages;

/* The plugin's calls come here. A question takes as long as on a slow machine, so that what the plugin asks in its
 * share of the time is little on each. */
int mincore(void* from, size_t bytes, unsigned char* in_memory) {
    struct timespec begin, now;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - begin.tv_sec) * 1000000000L + now.tv_nsec - begin.tv_nsec < 10000);
    __atomic_fetch_add(&g_pages, (long)((bytes + 4095) / 4096), __ATOMIC_RELAXED);
    return (int)syscall(SYS_mincore, from, bytes, in_memory);
}

enum { k_rounds = 5000, k_windows = 200, k_requests = 3000, k_steps = 3000 };
static size_t const k_bytes = (size_t)512 << 20;
static size_t const k_window = (size_t)8 << 30;
static int g_rank;
static char* g_room;
static char g_words[8] = "sluice";

static void received(void) {
    for (int i = 0; i < k_rounds; ++i)
        if (g_rank == 0)
            MPI_Send(g_words, 8, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
        else if (g_rank == 1)
            MPI_Recv(g_room, (int)k_bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void requested(void) {
    for (int i = 0; i < k_rounds; ++i) {
        MPI_Request request = MPI_REQUEST_NULL;
        if (g_rank == 0)
            MPI_Isend(g_words, 8, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &request);
        else if (g_rank == 1)
            MPI_Irecv(g_room, (int)k_bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

/* While so many receives are open, other calls go on. */
static void many(void) {
    static MPI_Request requests[k_requests];
    size_t const each = 64 << 10;
    for (int i = 0; i < k_requests; ++i)
        MPI_Irecv(g_room + (size_t)i * each, (int)each, MPI_CHAR, g_rank, i, MPI_COMM_WORLD, &requests[i]);
    char* const fresh = mmap(NULL, (size_t)k_steps * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < k_steps; ++i) {
        int came = 0;
        fresh[(size_t)i * 4096] = 1; /* memory changes, so readings are due */
        usleep(100);
        MPI_Iprobe(MPI_ANY_SOURCE, k_requests, MPI_COMM_WORLD, &came, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < k_requests; ++i)
        MPI_Send(g_words, 8, MPI_CHAR, g_rank, i, MPI_COMM_WORLD);
    MPI_Waitall(k_requests, requests, MPI_STATUSES_IGNORE);
}

static void windows(void) {
    for (int i = 0; i < k_windows; ++i) {
        MPI_Win window;
        MPI_Win_create(g_room, (MPI_Aint)k_window, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
        MPI_Win_free(&window);
    }
}

/* Beside regions that stay. */
static void attached(void) {
    static char small[8192];
    MPI_Win window;
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_attach(window, g_room, (MPI_Aint)k_window);
    for (int i = 0; i < k_windows; ++i) {
        MPI_Win_attach(window, small, sizeof small);
        MPI_Win_detach(window, small);
    }
    MPI_Win_detach(window, g_room);
    MPI_Win_free(&window);
}

int main(int count, char** words) {
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &g_rank);
    g_room = mmap(NULL, k_window, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (count != 2 || g_room == MAP_FAILED) return 2;
    long looked_at = (long)k_rounds * (long)(k_bytes / 4096);
    if (strcmp(words[1], "received") == 0) {
        received();
    } else if (strcmp(words[1], "requested") == 0) {
        requested();
    } else if (strcmp(words[1], "windows") == 0) {
        windows();
        looked_at = (long)k_windows * (long)(k_window / 4096);
    } else if (strcmp(words[1], "attached") == 0) {
        attached();
        looked_at = (long)k_windows * (long)(k_window / 4096);
    } else {
        many();
        looked_at = (long)k_steps * k_requests * 16;
    }
    printf("rank %d: %s: asked about %ld pages, those of all calls are %ld\n", g_rank, words[1], g_pages, looked_at);
    fflush(stdout);
    MPI_Finalize();
    return g_pages < looked_at / 2 && (g_rank != 1 || g_pages > 0) ? 0 : 1;
}
