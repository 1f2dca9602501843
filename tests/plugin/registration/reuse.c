// SPDX-License-Identifier: BSD-3-Clause
// reuse ROUNDS BYTES WAY: both ranks send and receive at one address, whose memory they replace between messages. A
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

static void* map_at(void* at, size_t bytes, int flags) {
    void* const memory = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
    if (memory == MAP_FAILED) abort();
    return memory;
}

static void* raw_map_at(void* at, size_t bytes) {
    long const flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
    return (void*)syscall(SYS_mmap, at, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
}

static void move_away(void* memory, size_t bytes, int raw) {
    void* const to = map_at(NULL, bytes, 0);
    int const flags = MREMAP_MAYMOVE | MREMAP_FIXED;
    void* const moved =
        raw ? (void*)syscall(SYS_mremap, memory, bytes, bytes, flags, to) : mremap(memory, bytes, bytes, flags, to);
    if (moved != to) abort();
    memset(to, 0xee, bytes);
    munmap(to, bytes);
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

static void replace(unsigned char* memory, size_t bytes, char const* way) {
    if (strcmp(way, "munmap") == 0) munmap(memory, bytes), map_at(memory, bytes, MAP_FIXED_NOREPLACE);
    if (strcmp(way, "raw_munmap") == 0) syscall(SYS_munmap, memory, bytes), raw_map_at(memory, bytes);
    if (strcmp(way, "raw_map_over") == 0) raw_map_at(memory, bytes);
    if (strcmp(way, "mremap") == 0) move_away(memory, bytes, 0), map_at(memory, bytes, MAP_FIXED_NOREPLACE);
    if (strcmp(way, "raw_mremap") == 0) move_away(memory, bytes, 1), raw_map_at(memory, bytes);
    if (strcmp(way, "dontneed") == 0) madvise(memory, bytes, MADV_DONTNEED);
    if (strcmp(way, "raw_dontneed") == 0) syscall(SYS_madvise, memory, bytes, MADV_DONTNEED);
    if (strcmp(way, "raw_half") == 0)
        syscall(SYS_munmap, memory + bytes / 2, bytes / 2), raw_map_at(memory + bytes / 2, bytes / 2);
    if (strcmp(way, "brk") == 0 || strcmp(way, "raw_brk") == 0) shrink_and_grow(memory, bytes, way[0] == 'r');
}

static unsigned char* first_memory(size_t bytes, char const* way) {
    if (strstr(way, "brk") == NULL) return map_at(NULL, bytes, 0);
    // Nothing else may take the end of the heap: libc's allocator uses mappings from here on.
    unsigned char* const end = sbrk(0);
    size_t const gap = (size_t)(-(intptr_t)end & 4095);
    if (sbrk((intptr_t)(gap + bytes)) == (void*)-1) abort();
    return end + gap;
}

int main(int count, char** arguments) {
    if (count < 4) return 2;
    int const rounds = atoi(arguments[1]);
    int const bytes = atoi(arguments[2]);
    char const* const way = arguments[3];
    MPI_Init(&count, &arguments);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    unsigned char* const memory = first_memory((size_t)bytes, way);
    size_t wrong = 0;
    for (int round = 0; round < rounds; ++round) {
        int const sends = rank == round % 2;
        replace(memory, (size_t)bytes, way);
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
    printf("rank %d way %s rounds %d wrong %zu\n", rank, way, rounds, wrong);
    fflush(stdout);
    MPI_Finalize();
    return wrong != 0;
}
