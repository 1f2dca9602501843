/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "memory.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "transcript.h"

enum { k_page = 4096, k_huge_page = 2 << 20, k_bss_bytes = 8 << 20, k_most_at_break = 64 << 20 };
static unsigned char bss[k_bss_bytes];
static size_t bss_used = 0;
static size_t break_used = 0;
static unsigned given[k_memory_kinds];

char const* name_of(enum memory_kind kind) {
    static char const* const names[k_memory_kinds] = {"malloc", "calloc",      "realloc", "aligned",     "bss",
                                                      "break",  "mapped",      "huge",    "hugetlb",     "shared",
                                                      "file",   "shared file", "locked",  "two mappings"};
    return names[kind];
}

static size_t whole(size_t bytes, size_t unit) {
    return (bytes + unit - 1) / unit * unit;
}

static void* map(struct memory* memory, size_t bytes, int flags, int file) {
    void* at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, file, 0);
    if (at == MAP_FAILED) return NULL;
    memory->mapped = bytes;
    return at;
}

static void* map_file(struct memory* memory, int flags) {
    char path[4096];
    static unsigned number = 0;
    char const* folder = getenv("SCRATCH");
    snprintf(path, sizeof path, "%s/memory-%d-%d-%u", folder != NULL ? folder : "/tmp", (int)getpid(), me, number++);
    size_t const bytes = whole(memory->all, k_page);
    int const file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    void* at = file >= 0 && ftruncate(file, (off_t)bytes) == 0 ? map(memory, bytes, flags, file) : NULL;
    if (file >= 0) close(file);
    unlink(path);
    return at;
}

static void* map_huge(struct memory* memory) {
    unsigned char* at = map(memory, whole(memory->all, k_huge_page) + k_huge_page, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    if (at == NULL) return NULL;
    madvise(at, memory->mapped, MADV_HUGEPAGE);
    memory->region = at + (k_huge_page - (uintptr_t)at % k_huge_page) % k_huge_page;
    return at;
}

// A part of the memory can be executed, so the kernel has three mappings for it.
static void* map_in_parts(struct memory* memory) {
    size_t const bytes = whole(memory->all, k_page) + 2 * k_page;
    unsigned char* at = map(memory, bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    if (at != NULL) mprotect(at + bytes / 2 / k_page * k_page, k_page, PROT_READ | PROT_WRITE | PROT_EXEC);
    return at;
}

static void* at_break(size_t bytes) {
    if (break_used + bytes > k_most_at_break) return NULL;
    break_used += bytes;
    void* at = sbrk((intptr_t)whole(bytes, 16));
    return at == (void*)-1 ? NULL : at;
}

static void* in_bss(size_t bytes) {
    if (bytes > k_bss_bytes) return NULL;
    if (bss_used + bytes > k_bss_bytes) return NULL;
    void* at = bss + bss_used;
    bss_used += whole(bytes, 8);
    return at;
}

static void* of_kind(struct memory* memory) {
    size_t const bytes = memory->all;
    void* at = NULL;
    switch (memory->kind) {
        case k_calloc:
            return calloc(bytes, 1);
        case k_realloc:
            return realloc(realloc(NULL, bytes / 3 + 1), bytes);
        case k_aligned:
            return posix_memalign(&at, 64, bytes) == 0 ? at : NULL;
        case k_bss:
            return in_bss(bytes);
        case k_break:
            return at_break(bytes);
        case k_mapped:
            return map(memory, whole(bytes, k_page), MAP_PRIVATE | MAP_ANONYMOUS, -1);
        case k_huge:
            return map_huge(memory);
        case k_hugetlb:
            return map(memory, whole(bytes, k_huge_page), MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1);
        case k_shared:
            return map(memory, whole(bytes, k_page), MAP_SHARED | MAP_ANONYMOUS, -1);
        case k_file:
            return map_file(memory, MAP_PRIVATE);
        case k_shared_file:
            return map_file(memory, MAP_SHARED);
        case k_locked:
            at = map(memory, whole(bytes, k_page), MAP_PRIVATE | MAP_ANONYMOUS, -1);
            if (at != NULL) mlock(at, memory->mapped);
            return at;
        case k_two_mappings:
            return map_in_parts(memory);
        default:
            return malloc(bytes);
    }
}

struct memory get_memory(enum memory_kind kind, size_t offset, size_t buffer_room, size_t behind, unsigned seed) {
    struct memory memory = {0};
    memory.all = offset + buffer_room + behind;
    memory.kind = kind;
    memory.base = of_kind(&memory);
    if (memory.base == NULL) {
        memory.kind = k_malloc;
        memory.base = room(memory.all);
    }
    if (memory.region == NULL) memory.region = memory.base;
    ++given[memory.kind];
    memory.buffer = memory.region + offset;
    memory.room = buffer_room;
    fill(memory.region, memory.all, seed);
    return memory;
}

void free_memory(struct memory* memory) {
    if (memory->mapped != 0)
        munmap(memory->base, memory->mapped);
    else if (memory->kind <= k_aligned)
        free(memory->base);
    memset(memory, 0, sizeof *memory);
}

void say_kinds(void) {
    for (int kind = 0; kind < k_memory_kinds; ++kind)
        say("%s: %u", name_of((enum memory_kind)kind), given[kind]);
}
