/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
// What touches the buffer of a receive whose data have not come: loads and stores of any thread, signal handlers,
// system calls. Each touch sees the message, whole.
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pending.h"
#include "transcript.h"

enum { k_bytes = 1 << 20, k_page = 4096 };
static unsigned char* buffer;  // of the receive; a page before and behind it are the program's own
static unsigned char* other;   // as large
static int scratch = -1;

static void load(void) {
    say("a byte in the middle: %d", buffer[k_bytes / 2]);
}

static void store(void) {
    memset(buffer + k_bytes / 3, 1, 2 * k_page + 5);
}

static void last_byte_first(void) {
    say("the last byte: %d, the first: %d", buffer[k_bytes - 1], buffer[0]);
}

static void copy_over_the_edges(void) {
    memcpy(other, buffer - 100, 200 + k_page);
    say_bytes("over the first byte", other, 200 + k_page);
    memcpy(other, buffer + k_bytes - k_page - 100, k_page + 200);
    say_bytes("over the last byte", other, k_page + 200);
    memmove(buffer + k_bytes - 50, buffer + k_bytes - 100, 100);
}

static void* look(void* argument) {
    uint64_t* sum = argument;
    *sum = checksum(buffer, k_bytes);
    return NULL;
}

// All at once, from different ends.
static void threads(void) {
    enum { k_threads = 4 };
    pthread_t thread[k_threads];
    uint64_t sums[k_threads] = {0};
    for (int i = 0; i < k_threads; ++i)
        pthread_create(&thread[i], NULL, look, &sums[i]);
    unsigned char const last = buffer[k_bytes - 1];
    for (int i = 0; i < k_threads; ++i)
        pthread_join(thread[i], NULL);
    int same = 1;
    for (int i = 1; i < k_threads; ++i)
        same = same && sums[i] == sums[0];
    say("threads: last byte %d, sums alike: %d, %016llx", last, same, (unsigned long long)sums[0]);
}

static void write_it(void) {
    ssize_t const written = pwrite(scratch, buffer + 3, k_bytes - 7, 0);
    memset(other, 0, k_bytes);
    ssize_t const back = pread(scratch, other, k_bytes, 0);
    say("write: %zd, read again: %zd", written, back);
    say_bytes("file", other, k_bytes);
}

static void write_vector(void) {
    struct iovec parts[3] = {{buffer + k_page, 100}, {other, 10}, {buffer + k_bytes - k_page, k_page}};
    memset(other, 4, 10);
    say("pwritev: %zd", pwritev(scratch, parts, 3, 0));
    memset(other, 0, k_bytes);
    say("pread: %zd", pread(scratch, other, 2 * k_page, 0));
    say_bytes("file", other, 2 * k_page);
}

static void read_into_it(void) {
    memset(other, 9, 2 * k_page);
    say("pwrite: %zd", pwrite(scratch, other, 2 * k_page, 0));
    say("pread: %zd", pread(scratch, buffer + 2 * k_page + 11, 2 * k_page, 0));
}

static void through_a_socket(void) {
    int ends[2];
    socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
    say("send: %zd", send(ends[0], buffer + 5, 20000, 0));
    say("recv: %zd", recv(ends[1], other, 20000, MSG_WAITALL));
    say_bytes("from the socket", other, 20000);
    close(ends[0]);
    close(ends[1]);
}

static volatile sig_atomic_t seen = -1;
static void handler(int number) {
    (void)number;
    seen = buffer[k_bytes / 4];
}

static void in_a_handler(void) {
    seen = -1;
    raise(SIGUSR1);
    say("the handler saw %d", (int)seen);
}

// The signal comes while calls of MPI run.
static void in_a_handler_during_calls(void) {
    struct itimerval timer = {{0, 300}, {0, 300}};
    struct itimerval none = {{0, 0}, {0, 0}};
    int flag = 0;
    seen = -1;
    setitimer(ITIMER_REAL, &timer, NULL);
    while (seen < 0)
        MPI_Iprobe(partner(), 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    setitimer(ITIMER_REAL, &none, NULL);
    say("the handler saw %d, a message: %d", (int)seen, flag);
}

// A child that was there before the receive reads its parent's memory.
static int ask_child[2];
static int hear_child[2];
static pid_t child = 0;
static void make_child(void) {
    if (pipe(ask_child) != 0 || pipe(hear_child) != 0) exit(90);
    child = fork();
    if (child != 0) return;
    char c;
    int all_well = 1;
    if (read(ask_child[0], &c, 1) == 1) {
        struct iovec mine = {other, k_bytes};
        struct iovec theirs = {buffer, k_bytes};
        all_well = process_vm_readv(getppid(), &mine, 1, &theirs, 1, 0) == k_bytes;
        uint64_t const sum = checksum(other, k_bytes);
        all_well = all_well && write(hear_child[1], &sum, sizeof sum) == sizeof sum;
    }
    _exit(all_well ? 0 : 1);
}

static void read_by_the_child(void) {
    uint64_t sum = 0;
    int status = 0;
    if (write(ask_child[1], "x", 1) != 1) exit(90);
    close(hear_child[1]);
    ssize_t const heard = read(hear_child[0], &sum, sizeof sum);
    waitpid(child, &status, 0);
    say("the child: %d, heard %zd, %016llx", status, heard, (unsigned long long)sum);
}

static struct {
    char const* name;
    void (*touch)(void);
    int offset;  // of the byte that is looked at for whether the touch finds it pending
    void (*before)(void);
} const cases[] = {
    {"load", load, k_bytes / 2, NULL},
    {"store", store, k_bytes / 3, NULL},
    {"last byte first", last_byte_first, k_bytes - 1, NULL},
    {"copy over the edges", copy_over_the_edges, 0, NULL},
    {"threads", threads, 0, NULL},
    {"write", write_it, 3, NULL},
    {"pwritev", write_vector, k_page, NULL},
    {"read", read_into_it, 2 * k_page, NULL},
    {"socket", through_a_socket, 5, NULL},
    {"handler", in_a_handler, k_bytes / 4, NULL},
    {"handler during calls", in_a_handler_during_calls, k_bytes / 4, NULL},
    {"child", read_by_the_child, 0, make_child},
};

int main(int argc, char** argv) {
    begin(&argc, &argv);
    expect_early_returns();
    unsigned char* pages = whole_pages(k_bytes + 2 * k_page, 7);
    buffer = pages + k_page;
    other = room(k_bytes);
    signal(SIGUSR1, handler);
    signal(SIGALRM, handler);
    char path[4096];
    snprintf(path, sizeof path, "%s/touch-%d", getenv("SCRATCH") != NULL ? getenv("SCRATCH") : "/tmp", me);
    scratch = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        if (partner() < 0) {
            MPI_Barrier(MPI_COMM_WORLD);
            continue;
        }
        say("-- %s", cases[i].name);
        if (cases[i].before != NULL && receives()) cases[i].before();
        fill(buffer, k_bytes, (unsigned)(me * 100 + (int)i));
        MPI_Barrier(MPI_COMM_WORLD);
        if (receives()) {
            MPI_Status status = untouched_status();
            MPI_Recv(buffer, k_bytes, MPI_BYTE, partner(), (int)i, MPI_COMM_WORLD, &status);
            count_touch(buffer + cases[i].offset);
            cases[i].touch();
            say_status("received", &status, MPI_BYTE);
            say_bytes("all", pages, k_bytes + 2 * k_page);
        } else {
            send_slowly(buffer, k_bytes, partner(), (int)i);
        }
    }
    if (scratch >= 0) close(scratch);
    unlink(path);
    return end();
}
