/* SPDX-License-Identifier: BSD-3-Clause */
// What a program does with memory, and with processes, while a receive into that memory is pending: the memory is
// freed, moved, dropped or protected, and children inherit it. The message is whole in what is left of it, and nothing
// hangs.
#define _GNU_SOURCE
#include <fcntl.h>
#include <malloc.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pending.h"
#include "transcript.h"

enum { k_bytes = 1 << 20, k_page = 4096 };
extern char** environ;
static unsigned char* block;   // from malloc
static unsigned char* pages;   // a mapping of its own
static unsigned char* buffer;  // that the receive goes to: one of the two
static MPI_Comm pair;

static void free_block(void) {
    free(block);
    block = NULL;
    unsigned char* again = room(k_bytes);  // often the same memory
    memset(again, 5, k_bytes);
    say_bytes("memory of the next block", again, k_bytes);
    free(again);
}

static void grow_block(void) {
    block = realloc(block, 3 * k_bytes);
    say_bytes("grown", block, k_bytes);
    free(block);
    block = NULL;
}

static void shrink_block(void) {
    block = realloc(block, 5 * k_page);
    say_bytes("shrunk", block, 5 * k_page);
    free(block);
    block = NULL;
}

static void trim(void) {
    malloc_trim(0);
    say_bytes("after malloc_trim", block, k_bytes);
}

// What is mapped there next stays what it is.
static void unmap(void) {
    say("munmap: %d", munmap(pages, k_bytes));
    void* next = mmap(pages, k_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    memset(pages, 6, k_bytes);
    MPI_Recv(NULL, 0, MPI_BYTE, partner(), 1000, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    say("at the same address: %d", next == pages);
    say_bytes("the next mapping", pages, k_bytes);
}
// The first message has arrived.
static void say_so(void) {
    MPI_Send(NULL, 0, MPI_BYTE, partner(), 1000, MPI_COMM_WORLD);
}

// Half of it stays.
static void unmap_half(void) {
    say("munmap: %d", munmap(pages + k_bytes / 2, k_bytes / 2));
    say_bytes("what is left", pages, k_bytes / 2);
    munmap(pages, k_bytes / 2);
    pages = NULL;
}

static void map_over(void) {
    void* at = mmap(pages + k_page, k_page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    say("at the place: %d", at == pages + k_page);
    say_bytes("with a page of zeros", pages, k_bytes);
}

static void remap_elsewhere(void) {
    unsigned char* other = whole_pages(k_bytes, 0);
    void* moved = mremap(pages, k_bytes, k_bytes, MREMAP_MAYMOVE | MREMAP_FIXED, other);
    say("moved: %d", moved == other);
    // The mremap of UCX, which MPICH loads, drops the address: then the kernel refuses, unless the user may map page 0.
    if (moved != MAP_FAILED) pages = moved;
    say_bytes("moved", pages, k_bytes);
}

static void remap_larger(void) {
    pages = mremap(pages, k_bytes, 4 * k_bytes, MREMAP_MAYMOVE);
    say_bytes("grown", pages, k_bytes);
    munmap(pages + k_bytes, 3 * k_bytes);
}

static void drop(void) {
    say("MADV_DONTNEED: %d", madvise(pages + 2 * k_page, k_bytes / 2, MADV_DONTNEED));
    say_bytes("with zeros", pages, k_bytes);
}

static void advise_huge(void) {
    say("MADV_HUGEPAGE: %d", madvise(pages, k_bytes, MADV_HUGEPAGE));
    say_bytes("all", pages, k_bytes);
}

static void protect(void) {
    say("mprotect: %d", mprotect(pages, k_bytes, PROT_READ));
    say_bytes("read only", pages, k_bytes);
    mprotect(pages, k_bytes, PROT_READ | PROT_WRITE);
}

static void lock(void) {
    say("mlock: %d", mlock(pages, 8 * k_page));
    say_bytes("locked", pages, k_bytes);
    munlock(pages, 8 * k_page);
}

static void say_child(char const* what, pid_t child) {
    int status = -1;
    waitpid(child, &status, 0);
    say("%s: %s %d", what, WIFEXITED(status) ? "exit code" : "signal",
        WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
}

// The child finds what the parent would find.
static void child_reads(void) {
    int ends[2];
    uint64_t sum = 0;
    if (pipe(ends) != 0) exit(90);
    pid_t const child = fork();
    if (child == 0) {
        sum = checksum(buffer, k_bytes);
        _exit(write(ends[1], &sum, sizeof sum) == sizeof sum ? 3 : 1);
    }
    ssize_t const heard = read(ends[0], &sum, sizeof sum);
    say("heard %zd: %016llx", heard, (unsigned long long)sum);
    say_child("the child", child);
    close(ends[0]);
    close(ends[1]);
}

static void child_calls_exec(void) {
    pid_t const child = vfork();
    if (child == 0) {
        execl("/bin/sh", "sh", "-c", "exit 7", (char*)NULL);
        _exit(1);
    }
    say_child("vfork and exec", child);
}

static void spawn(void) {
    pid_t child = 0;
    char* const arguments[] = {"sh", "-c", "exit 8", NULL};
    say("posix_spawn: %d", posix_spawn(&child, "/bin/sh", NULL, NULL, arguments, environ));
    say_child("spawned", child);
}

static void shell(void) {
    int const status = system("exit 9");
    say("system: %d", WEXITSTATUS(status));
    FILE* out = popen("echo heard", "r");
    char line[20] = "";
    say("popen: %d %s", fgets(line, sizeof line, out) != NULL, line);
    pclose(out);
}

// By both ranks.
static void make_window(void) {
    MPI_Win window;
    CALL(MPI_Win_create(buffer, k_bytes, 1, MPI_INFO_NULL, pair, &window));
    say_bytes("in the window", buffer, k_bytes);
    CALL(MPI_Win_free(&window));
}

static void set_error_handler(void) {
    CALL(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    CALL(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
    say_bytes("all", buffer, k_bytes);
}

static void free_communicator(void) {
    MPI_Comm copy;
    CALL(MPI_Comm_dup(MPI_COMM_SELF, &copy));
    CALL(MPI_Comm_free(&copy));
    say_bytes("all", buffer, k_bytes);
}

static void nothing(void) {}

static struct {
    char const* name;
    void (*change)(void);
    int in_block;
    void (*sender)(void);
} const cases[] = {
    {"free", free_block, 1, NULL},
    {"realloc to more", grow_block, 1, NULL},
    {"realloc to less", shrink_block, 1, NULL},
    {"malloc_trim", trim, 1, NULL},
    {"munmap", unmap, 0, say_so},
    {"munmap of a half", unmap_half, 0, NULL},
    {"mmap over it", map_over, 0, NULL},
    {"mremap elsewhere", remap_elsewhere, 0, NULL},
    {"mremap to more", remap_larger, 0, NULL},
    {"madvise MADV_DONTNEED", drop, 0, NULL},
    {"madvise MADV_HUGEPAGE", advise_huge, 0, NULL},
    {"mprotect", protect, 0, NULL},
    {"mlock", lock, 0, NULL},
    {"fork", child_reads, 0, NULL},
    {"fork, block", child_reads, 1, NULL},
    {"vfork", child_calls_exec, 0, NULL},
    {"posix_spawn", spawn, 1, NULL},
    {"system", shell, 0, NULL},
    {"window", make_window, 1, make_window},
    {"error handler", set_error_handler, 0, NULL},
    {"communicator freed", free_communicator, 1, NULL},
    {"nothing: the barrier of the next case, and MPI_Finalize", nothing, 0, NULL},
};

static void run(size_t number) {
    say("-- %s", cases[number].name);
    block = room(k_bytes);
    pages = whole_pages(k_bytes, 2);
    buffer = cases[number].in_block ? block : pages;
    fill(buffer, k_bytes, (unsigned)(me * 100) + (unsigned)number);
    MPI_Barrier(MPI_COMM_WORLD);
    if (receives()) {
        MPI_Recv(buffer, k_bytes, MPI_BYTE, partner(), (int)number, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        count_touch(buffer + k_bytes / 2);
        cases[number].change();
    } else {
        send_slowly(buffer, k_bytes, partner(), (int)number);
        if (cases[number].sender != NULL) cases[number].sender();
    }
    if (number + 1 == sizeof cases / sizeof cases[0]) return;  // the last is pending when MPI_Finalize begins
    free(block);
    if (pages != NULL) munmap(pages, k_bytes);
}

int main(int argc, char** argv) {
    begin(&argc, &argv);
    expect_early_returns();
    MPI_Comm_split(MPI_COMM_WORLD, me / 2, me, &pair);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        if (partner() >= 0)
            run(i);
        else
            MPI_Barrier(MPI_COMM_WORLD);
    }
    CALL(MPI_Finalize());
    if (partner() >= 0) say_bytes("after MPI_Finalize", buffer, k_bytes);
    return 0;
}
