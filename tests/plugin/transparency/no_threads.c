/* SPDX-License-Identifier: BSD-3-Clause */
// Preloaded before the plugin: the plugin can make no thread, as under a limit of processes that MPI's own threads have
// used up.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

int pthread_create(pthread_t* thread, pthread_attr_t const* attributes, void* (*run)(void*), void* argument) {
    static int (*next)(pthread_t*, pthread_attr_t const*, void* (*)(void*), void*);
    Dl_info caller;
    if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, "pthread_create");
    if (dladdr(__builtin_return_address(0), &caller) != 0 && caller.dli_fname != NULL &&
        strstr(caller.dli_fname, "libsluice-preload") != NULL)
        return EAGAIN;
    return next(thread, attributes, run, argument);
}
