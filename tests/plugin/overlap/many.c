/* SPDX-License-Identifier: BSD-3-Clause */
// many RECEIVES: so many receives that are pending for a while, into the same and into ever new memory, leave nothing
// behind: no mapping, no descriptor, no thread, no memory.
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pending.h"
#include "transcript.h"

enum { k_bytes = 256 << 10, k_window = 8, k_page = 4096 };

struct footprint {
    long mappings;
    long kib;  // resident and swapped
    long threads;
    long descriptors;
};

static long entries_of(char const* path) {
    long n = 0;
    DIR* folder = opendir(path);
    while (folder != NULL && readdir(folder) != NULL)
        ++n;
    if (folder != NULL) closedir(folder);
    return n;
}

static struct footprint look(void) {
    struct footprint now = {0, 0, 0, 0};
    char line[4096];
    FILE* maps = fopen("/proc/self/maps", "r");
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL)
        ++now.mappings;
    if (maps != NULL) fclose(maps);
    FILE* status = fopen("/proc/self/status", "r");
    while (status != NULL && fgets(line, sizeof line, status) != NULL) {
        if (strncmp(line, "VmRSS:", 6) == 0) now.kib += atol(line + 6);
        if (strncmp(line, "VmSwap:", 7) == 0) now.kib += atol(line + 7);
        if (strncmp(line, "Threads:", 8) == 0) now.threads = atol(line + 8);
    }
    if (status != NULL) fclose(status);
    now.descriptors = entries_of("/proc/self/fd");
    return now;
}

static unsigned char* fixed[k_window];

// Odd rounds receive into new blocks, even ones into the same mappings.
static void receive_round(int round) {
    unsigned char* at[k_window];
    uint64_t sum = 0;
    for (int i = 0; i < k_window; ++i) {
        at[i] = round % 2 == 1 ? room(k_bytes + (size_t)i * k_page) : fixed[i];
        MPI_Recv(at[i], k_bytes, MPI_BYTE, partner(), i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    count_touch(at[k_window - 1]);
    for (int i = 0; i < k_window; ++i) {
        sum = sum * 31 + checksum(at[i], 512) + at[i][k_bytes - 1];
        if (round % 2 == 1) free(at[i]);
    }
    if (round % 100 == 0) say("round %d: %016llx", round, (unsigned long long)sum);
}

static void send_round(int round, unsigned char* data) {
    MPI_Request requests[k_window];
    data[round % k_bytes] = (unsigned char)round;
    for (int i = 0; i < k_window; ++i)
        MPI_Isend(data, k_bytes, MPI_BYTE, partner(), i, MPI_COMM_WORLD, &requests[i]);
    MPI_Waitall(k_window, requests, MPI_STATUSES_IGNORE);
}

static void do_rounds(int from, int to, unsigned char* data) {
    for (int round = from; round < to; ++round) {
        if (receives())
            receive_round(round);
        else
            send_round(round, data);
    }
}

static void say_growth(char const* what, long before, long after, long allowed) {
    if (after > before + allowed)
        say("%s grew from %ld to %ld", what, before, after);
    else
        say("%s: no growth", what);
}

int main(int argc, char** argv) {
    begin(&argc, &argv);
    expect_early_returns();
    int const rounds = (argc > 1 ? atoi(argv[1]) : 1000) / k_window;
    unsigned char* data = room(k_bytes);
    fill(data, k_bytes, (unsigned)me);
    for (int i = 0; i < k_window; ++i)
        fixed[i] = whole_pages(k_bytes, 1);
    if (partner() >= 0) {
        int const warm = rounds / 4;
        do_rounds(0, warm, data);
        struct footprint const before = look();
        do_rounds(warm, rounds, data);
        struct footprint const after = look();
        say_growth("mappings", before.mappings, after.mappings, k_window);
        say_growth("memory", before.kib, after.kib, 4096);
        say_growth("threads", before.threads, after.threads, 0);
        say_growth("descriptors", before.descriptors, after.descriptors, 0);
    }
    return end();
}
