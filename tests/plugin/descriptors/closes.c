// SPDX-License-Identifier: BSD-3-Clause
// Closes after MPI_Init what it has not opened, as programs do that become daemons, and puts descriptors of its own on
// all those numbers: closes FOLDER files|NUMBER|tell. `files` leaves sockets, pipes and the like, which both MPIs need;
// with NUMBER it closes from that on. Then it works with MPI and ends. Prints what has become of its own descriptors:
// each must be open, where it was and hold what it held. `tell` prints the highest number and closes nothing.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum { k_most = 1024, k_at = 5, k_event = 7 };
enum kind { none, file, event, reader, timer };

static enum kind kinds[k_most];
static struct stat opened[k_most];
static char const* folder;
static int rank, wrong;

static void complain(int number, char const* what) {
    printf("rank %d: descriptor %d, kind %d: %s (%s)\n", rank, number, kinds[number], what, strerror(errno));
    wrong = 1;
}

/// Whether it is a file of some file system: MPI uses sockets, pipes and unnamed descriptors as long as it lives.
static int is_file(int number) {
    char path[64], target[4096];
    snprintf(path, sizeof path, "/proc/self/fd/%d", number);
    ssize_t const length = readlink(path, target, sizeof target - 1);
    return length > 0 && target[0] == '/';
}

static void close_foreign(char const* which) {
    int const only_files = strcmp(which, "files") == 0;
    for (int number = only_files ? 3 : atoi(which); number < k_most; ++number)
        if (!only_files || is_file(number)) close(number);
}

static int highest(void) {
    int last = 2;
    for (int number = 3; number < k_most; ++number)
        if (fcntl(number, F_GETFD) >= 0) last = number;
    return last;
}

static int open_kind(enum kind kind, int number) {
    if (kind == file) {
        char path[4096], text[64];
        snprintf(path, sizeof path, "%s/%d.%d", folder, rank, number);
        int const data = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
        int const length = snprintf(text, sizeof text, "data of %d\n", number);
        if (write(data, text, (size_t)length) != length || lseek(data, k_at, SEEK_SET) != k_at) return -1;
        return data;
    }
    if (kind == event) return eventfd(k_event, EFD_NONBLOCK);
    if (kind == timer) {
        struct itimerspec const an_hour = {{0, 0}, {3600, 0}};
        int const clock = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
        return timerfd_settime(clock, 0, &an_hour, NULL) == 0 ? clock : -1;
    }
    int ends[2];
    if (pipe(ends) != 0 || write(ends[1], "12345678", 8) != 8) return -1;
    close(ends[1]);
    return ends[0];
}

/// Each free number gets a descriptor of the program.
static void fill(void) {
    int next = file;
    for (int number = 3; number < k_most; ++number) {
        if (fcntl(number, F_GETFD) >= 0) continue;
        int const made = open_kind(next, number);
        if (made < 0 || (made != number && (dup2(made, number) != number || close(made) != 0))) continue;
        kinds[number] = next;
        fstat(number, &opened[number]);
        next = next == timer ? file : next + 1;
    }
}

static void check(int number) {
    struct stat now;
    if (fstat(number, &now) != 0 || now.st_dev != opened[number].st_dev || now.st_ino != opened[number].st_ino) {
        complain(number, "is no longer what the program has opened");
        return;
    }
    char held[64] = "";
    char text[64];
    uint64_t value = 0;
    struct itimerspec left;
    switch (kinds[number]) {
        case file:
            snprintf(text, sizeof text, "data of %d\n", number);
            if (lseek(number, 0, SEEK_CUR) != k_at) complain(number, "has moved");
            if (pread(number, held, sizeof held - 1, 0) < 0 || strcmp(held, text) != 0) complain(number, "has changed");
            struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
            char path[4096];
            snprintf(path, sizeof path, "%s/%d.%d", folder, rank, number);
            int const other = open(path, O_RDWR);
            if (fcntl(other, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK) complain(number, "is locked");
            close(other);
            break;
        case event:
            if (read(number, &value, sizeof value) != sizeof value || value != k_event)
                complain(number, "was read or written");
            value = k_event;
            if (write(number, &value, sizeof value) != sizeof value) complain(number, "cannot be written");
            break;
        case reader:
            break;
        case timer:
            if (timerfd_gettime(number, &left) != 0 || left.it_value.tv_sec < 3000) complain(number, "was set");
            break;
        case none:
            break;
    }
}

static void check_all(void) {
    for (int number = 3; number < k_most; ++number)
        if (kinds[number] != none) check(number);
}

/// What a pipe holds can be read once only.
static void check_pipes(void) {
    char held[16];
    for (int number = 3; number < k_most; ++number)
        if (kinds[number] == reader && read(number, held, sizeof held) != 8) complain(number, "was read");
}

/// Long enough for several samples; each round takes memory.
static long work(int size) {
    long sum = 0;
    double const begin = MPI_Wtime();
    for (int goes_on = 1; goes_on;) {
        size_t const bytes = 1 << 20;
        char* const out = malloc(bytes);
        char* const in = malloc(bytes);
        memset(out, rank + 1, bytes);
        MPI_Sendrecv(out, (int)bytes, MPI_BYTE, (rank + 1) % size, 1, in, (int)bytes, MPI_BYTE,
                     (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        sum = in[bytes - 1];
        free(out);
        free(in);
        goes_on = MPI_Wtime() - begin < 0.3;
        MPI_Allreduce(MPI_IN_PLACE, &goes_on, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    }
    return sum;
}

int main(int argc, char** argv) {
    if (argc != 3) return 3;
    folder = argv[1];
    MPI_Init(&argc, &argv);
    int size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    work(size);  // what MPI opens late is open
    if (strcmp(argv[2], "tell") == 0) {
        printf("highest %d\n", highest());
        MPI_Finalize();
        return 0;
    }
    close_foreign(argv[2]);
    fill();
    long const sum = work(size);
    check_all();
    MPI_Finalize();
    check_all();
    check_pipes();
    printf("rank %d sum %ld wrong %d\n", rank, sum, wrong);
    return wrong;
}
