/* SPDX-License-Identifier: BSD-3-Clause */
// Preloaded into each process of a test: a rank that waits sleeps now and then, so that other tests have its processor.
//
//     Open MPI   gives the processor away after each look in vain (mpi_yield_when_idle), and the kernel hands it to the
//                next rank that waits as often as to one that works.
//     MPICH      spins: it looks with the progress function of UCX, and never gives the processor away.
//
// docs/decisions/0166 has what that costs and saves.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { k_yields = 4, k_looks = 100, k_pause_ns = 20000 };

__attribute__((visibility("default"))) int sched_yield(void);
__attribute__((visibility("default"))) unsigned ucp_worker_progress(void* worker);

static void pause_now(void) {
    struct timespec const pause = {.tv_nsec = k_pause_ns};
    int const error = errno;
    nanosleep(&pause, NULL);
    errno = error;
}

int sched_yield(void) {
    static __thread unsigned yields;
    if (++yields % k_yields != 0) return (int)syscall(SYS_sched_yield);
    pause_now();
    return 0;
}

typedef unsigned Progress(void* worker);

// The library may have been loaded by an MPI that was itself loaded late, for itself alone.
static Progress* progress_of_ucx(void) {
    static Progress* found;
    Progress* progress = __atomic_load_n(&found, __ATOMIC_RELAXED);
    if (progress != NULL) return progress;
    void* const library = dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD);
    if (library != NULL) *(void**)&progress = dlsym(library, "ucp_worker_progress");
    if (progress == NULL) abort();
    __atomic_store_n(&found, progress, __ATOMIC_RELAXED);
    return progress;
}

unsigned ucp_worker_progress(void* worker) {
    static __thread unsigned in_vain;
    unsigned const progressed = progress_of_ucx()(worker);
    if (progressed != 0)
        in_vain = 0;
    else if (++in_vain > k_looks)
        pause_now();
    return progressed;
}
