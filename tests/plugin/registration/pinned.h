// SPDX-License-Identifier: BSD-3-Clause
// What is pinned, as the kernel tells it, and how often something was registered.
#pragma once
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A figure of this process in /proc/self/status, whose name ends with a colon.
static inline unsigned long status_kib(char const* name) {
    FILE* const status = fopen("/proc/self/status", "r");
    char line[256];
    unsigned long kib = 0;
    while (status != NULL && fgets(line, sizeof line, status) != NULL)
        if (strncmp(line, name, strlen(name)) == 0) {
            kib = strtoul(line + strlen(name), NULL, 10);
            break;
        }
    if (status != NULL) fclose(status);
    return kib;
}

static inline unsigned long pinned_kib(void) {
    return status_kib("VmPin:");
}

struct Pinned {
    unsigned long begin, peak, sum, looks;
};

static inline struct Pinned begin_pinned(void) {
    unsigned long const now = pinned_kib();
    return (struct Pinned){now, now, 0, 0};
}

static inline void see_pinned(struct Pinned* pinned) {
    unsigned long const now = pinned_kib();
    if (now > pinned->peak) pinned->peak = now;
    pinned->sum += now;
    ++pinned->looks;
}

struct Registrations {
    unsigned long main, others, removed_by_main, removed_by_others;
};

static inline unsigned long count_named(char const* name) {
    atomic_ulong* const count = dlsym(RTLD_DEFAULT, name);
    return count != NULL ? atomic_load(count) : 0;
}

// All are 0 without the preload library that counts.
static inline struct Registrations count_registrations(void) {
    return (struct Registrations){count_named("registrations_of_main"), count_named("registrations_of_others"),
                                  count_named("removals_of_main"), count_named("removals_of_others")};
}
