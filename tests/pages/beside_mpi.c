/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory hooks of an MPI overwrite functions of libc, and the hook of libsluice-pages.so is called all the same.
 * This program is started with the library preloaded. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

struct library {
    uint32_t version, bytes;
    void (*set_hook)(void (*)(void const*, size_t));
    void (*set_end_hook)(void (*)(void));
    _Bool (*find)(void const*, size_t, void*);
    uint64_t (*generation)(void);
    _Bool (*gives_whole_pages)(void);
};

static int volatile calls; /* volatile: the compiler believes that libc calls nothing of this file */
static int wrong;

static void count(void const* from, size_t bytes) {
    (void)from;
    (void)bytes;
    ++calls;
}

#define TOLD(call)                                                 \
    do {                                                           \
        int const before = calls;                                  \
        call;                                                      \
        if (calls == before) {                                     \
            fprintf(stderr, "the hook was not told: " #call "\n"); \
            ++wrong;                                               \
        }                                                          \
    } while (0)

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    struct library const* const library = dlsym(RTLD_DEFAULT, "sluice_pages_1");
    if (library == NULL || library->version != 1 || !library->gives_whole_pages()) {
        fprintf(stderr, "libsluice-pages.so is not preloaded, or does not give whole pages\n");
        return 1;
    }
    int const flags = MAP_PRIVATE | MAP_ANONYMOUS;
    size_t const bytes = 1 << 16, half = bytes / 2;
    char* const pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    void* const block = malloc(1 << 20);
    if (pages == MAP_FAILED || !library->find(block, 1 << 20, NULL)) return 2;
    library->set_hook(count);
    TOLD(madvise(pages, bytes, MADV_NORMAL));
    TOLD(mprotect(pages, bytes, PROT_READ | PROT_WRITE));
    TOLD(mremap(pages, bytes, half, 0));
    TOLD(mmap(pages, half, PROT_READ | PROT_WRITE, flags | MAP_FIXED, -1, 0));
    TOLD(munmap(pages, half));
    sbrk(4096); /* the heap of malloc ends below */
    TOLD(sbrk(-4096));
    TOLD(free(block));
    library->set_hook(NULL);
    MPI_Finalize();
    return wrong != 0;
}
