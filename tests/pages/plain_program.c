/* SPDX-License-Identifier: BSD-3-Clause */
/* Allocates in a constructor, in threads and in a child, and prints what the library says of its blocks. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char* early;

__attribute__((constructor)) static void allocate_early(void) {
    early = malloc(1 << 20);
    memset(early, 1, 1 << 20);
    early = realloc(early, 3 << 20);
}

static void* allocate(void* unused) {
    for (int i = 0; i < 100; ++i) {
        char* const block = calloc(1, (size_t)(300000 + i));
        if (block == NULL || block[299999] != 0) abort();
        memset(block, 1, 300000);
        free(block);
    }
    return unused;
}

int main(void) {
    if (early[5] != 1) return 1;
    free(early);
    pthread_t threads[2];
    for (int i = 0; i < 2; ++i)
        pthread_create(&threads[i], NULL, allocate, NULL);
    for (int i = 0; i < 2; ++i)
        pthread_join(threads[i], NULL);
    pid_t const child = fork();
    if (child == 0) {
        allocate(NULL);
        _exit(0);
    }
    int status = 1;
    waitpid(child, &status, 0);
    if (status != 0) return 2;
    struct {
        unsigned version, bytes;
        void *set_hook, *set_end_hook, *find, *generation;
        _Bool (*gives_whole_pages)(void);
    } const* const library = dlsym(RTLD_DEFAULT, "sluice_pages_1");
    puts(library == NULL ? "no library" : library->gives_whole_pages() ? "whole pages" : "as the allocator makes them");
    return 0;
}
