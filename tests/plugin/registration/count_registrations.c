// SPDX-License-Identifier: BSD-3-Clause
// A preload library that counts the registrations of a process: those of the thread that calls MPI, and those of
// others. A program finds the counts by dlsym("registrations_of_main") and so on.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

struct ibv_pd;
struct ibv_mr {
    void* context;
    struct ibv_pd* pd;
    void* addr;
    size_t length;
};

atomic_ulong registrations_of_main, registrations_of_others, removals_of_main, removals_of_others;

static void* find(char const* name, char const* version) {
    void* const library = dlopen("libibverbs.so.1", RTLD_LAZY | RTLD_NOLOAD);
    void* const found = library != NULL ? dlvsym(library, name, version) : NULL;
    if (found == NULL) abort();
    return found;
}

static int is_main(void) {
    return syscall(SYS_gettid) == getpid();
}

struct ibv_mr* ibv_reg_mr_iova2(struct ibv_pd* pd, void* address, size_t length, uint64_t iova, unsigned access) {
    static struct ibv_mr* (*below)(struct ibv_pd*, void*, size_t, uint64_t, unsigned);
    if (below == NULL) *(void**)&below = find("ibv_reg_mr_iova2", "IBVERBS_1.8");
    atomic_fetch_add(is_main() ? &registrations_of_main : &registrations_of_others, 1);
    return below(pd, address, length, iova, access);
}

int ibv_dereg_mr(struct ibv_mr* region) {
    static int (*below)(struct ibv_mr*);
    if (below == NULL) *(void**)&below = find("ibv_dereg_mr", "IBVERBS_1.1");
    atomic_fetch_add(is_main() ? &removals_of_main : &removals_of_others, 1);
    return below(region);
}
