/* SPDX-License-Identifier: BSD-3-Clause */
/* What the kernel says of this process's memory, in KiB. */
#pragma once
#include <stdio.h>
#include <string.h>

struct smaps {
    long anonymous;     /* pages that belong to no file, or have been written since they were mapped from one */
    long private_pages; /* pages that no other process maps */
    long own;           /* pages of Sluice's files (libsluice-preload-*.so, node-*.sluice), shared ones too, that are in
                           neither of the others */
};

static int is_sluices(char const* path) {
    char const* const name = strrchr(path, '/');
    if (name == NULL) return 0;
    size_t const length = strcspn(name, " \n");
    return strncmp(name, "/libsluice-preload-", 19) == 0 ||
           (length > 7 && strncmp(name + length - 7, ".sluice", 7) == 0);
}

/* Copies all mappings to the file `to`, which may be null. 0 where they cannot be read. */
static int read_smaps(struct smaps* found, FILE* to) {
    static char line[4096];
    long kib = 0, resident = 0;
    int ours = 0;
    FILE* const maps = fopen("/proc/self/smaps", "r");
    if (maps == NULL) return 0;
    while (fgets(line, sizeof line, maps) != NULL) {
        if (to != NULL) fputs(line, to);
        unsigned long begin, end;
        if (sscanf(line, "%lx-%lx ", &begin, &end) == 2) {
            ours = is_sluices(line);
        } else if (sscanf(line, "Rss: %ld", &kib) == 1) {
            resident = kib;
        } else if (sscanf(line, "Private_Clean: %ld", &kib) == 1 || sscanf(line, "Private_Dirty: %ld", &kib) == 1) {
            if (!ours) found->private_pages += kib;
        } else if (sscanf(line, "Anonymous: %ld", &kib) == 1) {
            found->anonymous += kib;
            if (ours) {
                found->private_pages += kib;
                found->own += resident - kib;
            }
        }
    }
    fclose(maps);
    return 1;
}
