/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "pointers.h"

#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "absent.h"

enum {
    k_page = 4096,
    k_data_bytes = 256 << 10,
    k_small_bytes = 16 << 10,
    k_before = 2 * k_page,
    k_most_sends = 32,
    k_most_functions = 500
};

static __thread int inside = 0;
static int ready = 0;
static MPI_Comm self = MPI_COMM_NULL;  // its errors are fatal
static MPI_Request sends[k_most_sends];
static int n_sends = 0;
static long pending_pointers = 0;
static char const* functions[k_most_functions];
static int n_functions = 0;

void* next_of(char const* name) {
    void* next = dlsym(RTLD_NEXT, name);
    if (next == NULL) {
        fprintf(stderr, "pointers: there is no %s\n", name);
        exit(92);
    }
    return next;
}
#define NEXT(function) ((__typeof__(function)*)next_of(#function))

int enter(void) {
    if (!ready || inside) return 0;
    inside = 1;
    return 1;
}

void leave(void) {
    inside = 0;
}

static void say_coverage(void) {
    if (pending_pointers == 0) return;
    fprintf(stderr, "sluice test: %ld pointers to pages that were pending, %d functions\n", pending_pointers,
            n_functions);
    char const* list = getenv("SLUICE_TEST_POINTERS");
    FILE* out = list != NULL ? fopen(list, "a") : NULL;
    for (int i = 0; out != NULL && i < n_functions; ++i)
        fprintf(out, "%s\n", functions[i]);
    if (out != NULL) fclose(out);
}

static void begin(int code) {
    if (code != MPI_SUCCESS) return;
    inside = 1;
    NEXT(MPI_Comm_dup)(MPI_COMM_SELF, &self);
    NEXT(MPI_Comm_set_errhandler)(self, MPI_ERRORS_ARE_FATAL);
    inside = 0;
    ready = 1;
    atexit(say_coverage);
}

int MPI_Init(int* argc, char*** argv) {
    int const code = NEXT(MPI_Init)(argc, argv);
    begin(code);
    return code;
}
int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
    int const code = NEXT(MPI_Init_thread)(argc, argv, required, provided);
    if (*provided < MPI_THREAD_MULTIPLE) begin(code);
    return code;
}
int MPI_Finalize(void) {
    if (ready) NEXT(MPI_Comm_free)(&self);
    ready = 0;
    return NEXT(MPI_Finalize)();
}

// What MPI takes for something else than memory.
static int stands_for_something(void const* given) {
    void const* const constants[] = {MPI_IN_PLACE,        MPI_BOTTOM,          MPI_STATUS_IGNORE,
                                     MPI_STATUSES_IGNORE, MPI_ERRCODES_IGNORE, MPI_UNWEIGHTED,
                                     MPI_WEIGHTS_EMPTY,   MPI_ARGV_NULL,       MPI_ARGVS_NULL};
    for (size_t i = 0; i < sizeof constants / sizeof constants[0]; ++i)
        if (given == constants[i]) return 1;
    return (uintptr_t)given < k_page || (uintptr_t)given > UINTPTR_MAX / 2;
}

// As far as the program has memory there.
static void copy_pages(unsigned char* to, unsigned char const* from, size_t bytes) {
    uintptr_t const begin = (uintptr_t)from;
    uintptr_t const end = begin + bytes;
    for (uintptr_t at = begin; at < end;) {
        uintptr_t const next = (at / k_page + 1) * k_page < end ? (at / k_page + 1) * k_page : end;
        struct iovec mine = {to + (at - begin), next - at};
        struct iovec theirs = {(void*)at, next - at};
        if (process_vm_readv(getpid(), &mine, 1, &theirs, 1, 0) < 0 && at >= begin + k_before) break;
        at = next;
    }
}

static struct place give(void const* anew, void const* given, enum lasting lasting, size_t behind) {
    struct place place = {(void*)given, (void*)given, NULL, NULL, 0, 0, -1, k_for_the_call};
    if (stands_for_something(anew) || n_sends == k_most_sends) return place;
    place.lasting = lasting;
    place.before = k_before + (uintptr_t)given % k_page;
    place.bytes = (place.before + behind + k_page - 1) / k_page * k_page;
    unsigned char* both =
        mmap(NULL, 2 * place.bytes + 3 * k_page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (both == MAP_FAILED) return place;
    place.pages = both + k_page;
    place.copy = place.pages + place.bytes + k_page;
    memset(place.pages, 0x5a, place.bytes);
    copy_pages(place.copy, (unsigned char const*)given - place.before, place.bytes);
    place.at = place.pages + place.before;
    place.sending = n_sends++;
    NEXT(MPI_Isend)(place.copy, (int)place.bytes, MPI_BYTE, 0, place.sending, self, &sends[place.sending]);
    return place;
}

struct place give_data(void const* given, enum lasting lasting, int are_few) {
    return give(are_few ? given : NULL, given, lasting, k_data_bytes);
}
struct place give_small(void const* given, enum lasting lasting) {
    return give(given, given, lasting, k_small_bytes);
}

static void count(char const* name, struct place const* place) {
    if (!is_absent(place->at)) return;
    ++pending_pointers;
    for (int i = 0; i < n_functions; ++i)
        if (functions[i] == name) return;
    if (n_functions < k_most_functions) functions[n_functions++] = name;
}

void begin_call(char const* name, struct place* places, int n) {
    __typeof__(MPI_Recv)* const receive = next_of("MPI_Recv");
    for (int i = 0; i < n; ++i)
        if (places[i].pages != NULL)
            receive(places[i].pages, (int)places[i].bytes, MPI_BYTE, 0, places[i].sending, self, MPI_STATUS_IGNORE);
    for (int i = 0; i < n; ++i)
        if (places[i].pages != NULL) count(name, &places[i]);
}

// Only bytes that the call has changed: what lies near a place may have changed meanwhile.
static void put_back(struct place const* place) {
    unsigned char* const to = (unsigned char*)place->given - place->before;
    for (size_t i = 0; i < place->bytes; ++i)
        if (place->pages[i] != place->copy[i]) to[i] = place->pages[i];
}

void end_call(struct place* places, int n) {
    for (int i = 0; i < n; ++i)
        if (places[i].pages != NULL) put_back(&places[i]);
    NEXT(MPI_Waitall)(n_sends, sends, MPI_STATUSES_IGNORE);
    n_sends = 0;
    for (int i = 0; i < n; ++i) {
        if (places[i].pages == NULL) continue;
        munmap(places[i].copy, places[i].bytes);
        if (places[i].lasting == k_for_the_call) munmap(places[i].pages, places[i].bytes);
    }
}
