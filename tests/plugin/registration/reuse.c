// SPDX-License-Identifier: BSD-3-Clause
// reuse ROUNDS BYTES WAY…: both ranks send and receive at one address, whose memory they replace between messages. A
// registration that outlives its memory sends old bytes, or receives into pages that are no longer there.
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void* checked(void* memory) {
    if (memory == MAP_FAILED) abort();
    return memory;
}

static void* map_anywhere(size_t bytes) {
    return checked(mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}

/// New memory where there is none; elsewhere if another thread has been faster.
static unsigned char* map_again(unsigned char* at, size_t bytes, int raw) {
    int const access = PROT_READ | PROT_WRITE;
    int const flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
    void* const memory =
        raw ? (void*)syscall(SYS_mmap, at, bytes, access, flags, -1, 0) : mmap(at, bytes, access, flags, -1, 0);
    return memory != MAP_FAILED ? memory : map_anywhere(bytes);
}

static void raw_map_over(void* at, size_t bytes) {
    long const flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
    if (syscall(SYS_mmap, at, bytes, PROT_READ | PROT_WRITE, flags, -1, 0) != (long)at) abort();
}

/// The pages go elsewhere. UCX 1.13 puts a function of its own in the place of libc's mremap, which drops the address
/// that MREMAP_FIXED names, so the call leaves the choice to the kernel.
static void move_away(void* memory, size_t bytes, int raw) {
    int const flags = MREMAP_MAYMOVE | MREMAP_DONTUNMAP;
    void* const moved = checked(raw ? (void*)syscall(SYS_mremap, memory, bytes, bytes, flags, NULL)
                                    : mremap(memory, bytes, bytes, flags));
    if (moved == memory) abort();
    memset(moved, 0xee, bytes);
    munmap(moved, bytes);
}

/// The end of the heap goes and comes again.
static void shrink_and_grow(unsigned char* memory, size_t bytes, int raw) {
    if (!raw) {
        if (sbrk(-(intptr_t)bytes) == (void*)-1 || sbrk((intptr_t)bytes) != memory) abort();
        return;
    }
    syscall(SYS_brk, memory);
    syscall(SYS_brk, memory + bytes);
}

static unsigned char* replace(unsigned char* memory, size_t bytes, char const* way) {
    int const raw = strncmp(way, "raw_", 4) == 0;
    char const* const what = raw ? way + 4 : way;
    if (strcmp(what, "map_over") == 0) raw_map_over(memory, bytes);
    if (strcmp(what, "half") == 0) raw_map_over(memory + bytes / 2, bytes / 2);
    if (strcmp(what, "dontneed") == 0 && raw) syscall(SYS_madvise, memory, bytes, MADV_DONTNEED);
    if (strcmp(what, "dontneed") == 0 && !raw) madvise(memory, bytes, MADV_DONTNEED);
    if (strcmp(what, "brk") == 0) shrink_and_grow(memory, bytes, raw);
    if (strcmp(what, "mremap") == 0) move_away(memory, bytes, raw);
    if (strcmp(what, "munmap") != 0) return memory;
    if (raw)
        syscall(SYS_munmap, memory, bytes);
    else
        munmap(memory, bytes);
    return map_again(memory, bytes, raw);
}

static unsigned char* first_memory(size_t bytes, char const* way) {
    if (strstr(way, "brk") == NULL) return map_anywhere(bytes);
    // Nothing else may take the end of the heap: libc's allocator uses mappings from here on.
    unsigned char* const end = sbrk(0);
    size_t const gap = (size_t)(-(intptr_t)end & 4095);
    if (sbrk((intptr_t)(gap + bytes)) == (void*)-1) abort();
    return end + gap;
}

static size_t wrong_bytes(int rank, int rounds, int bytes, char const* way) {
    unsigned char* memory = first_memory((size_t)bytes, way);
    size_t wrong = 0;
    for (int round = 0; round < rounds; ++round) {
        int const sends = rank == round % 2;
        memory = replace(memory, (size_t)bytes, way);
        memset(memory, sends ? round % 250 + 1 : 0, (size_t)bytes);
        if (sends)
            MPI_Send(memory, bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD);
        else
            MPI_Recv(memory, bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < bytes; ++i)
            wrong += memory[i] != round % 250 + 1;
        // Now and then the helper has time to give back and to register ahead.
        if (round % 8 < 2) nanosleep(&(struct timespec){0, 3000000}, NULL);
    }
    return wrong;
}

int main(int count, char** arguments) {
    if (count < 4) return 2;
    int const rounds = atoi(arguments[1]);
    int const bytes = atoi(arguments[2]);
    MPI_Init(&count, &arguments);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    size_t all = 0;
    for (int at = 3; at < count; ++at) {
        size_t const wrong = wrong_bytes(rank, rounds, bytes, arguments[at]);
        printf("rank %d way %s rounds %d wrong %zu\n", rank, arguments[at], rounds, wrong);
        fflush(stdout);
        all += wrong;
    }
    MPI_Finalize();
    return all != 0;
}
