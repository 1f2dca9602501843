/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
#include <stdio.h>
#include <stdlib.h>

// Resident memory of this process in KiB, without the pages of libraries and files: how many of those are mapped
// depends on the kernel's page cache, and they are not what a program takes.
static inline long memory_kib(void) {
    char line[256];
    long private_kib = -1;
    long shared_kib = -1;
    FILE* const file = fopen("/proc/self/status", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "RssAnon: %ld", &private_kib) != 1) sscanf(line, "RssShmem: %ld", &shared_kib);
    if (file != NULL) fclose(file);
    if (private_kib < 0 || shared_kib < 0) {
        fprintf(stderr, "/proc/self/status has no RssAnon or no RssShmem\n");
        exit(3);
    }
    return private_kib + shared_kib;
}
