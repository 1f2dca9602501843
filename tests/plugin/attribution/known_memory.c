/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that knows which memory belongs to MPI: it reads its own resident pages around every MPI call that may
 * allocate, and prints what MPI took ("truth RANK OWNER KIB") for known.py to compare with the report. Sluice's own
 * memory is in it where it came inside these calls: the resident pages of Sluice's files tell how much of Sluice's
 * memory is not. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "smaps.h"

struct pages {
    long private_kib, shared_kib; /* shared memory; pages of files are in neither */
};

static struct pages resident(void) {
    struct pages now = {0, 0};
    char line[256];
    FILE* file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file)) {
        sscanf(line, "RssAnon: %ld", &now.private_kib);
        sscanf(line, "RssShmem: %ld", &now.shared_kib);
    }
    if (file) fclose(file);
    return now;
}

static struct pages taken; /* taken by MPI, as far as this program knows */

#define INSIDE_MPI(own_kib, call)                                                \
    do {                                                                         \
        struct pages before = resident();                                        \
        call;                                                                    \
        struct pages after = resident();                                         \
        taken.private_kib += after.private_kib - before.private_kib - (own_kib); \
        taken.shared_kib += after.shared_kib - before.shared_kib;                \
    } while (0)

static char* touched(size_t bytes) {
    char* memory = malloc(bytes);
    memset(memory, 1, bytes);
    return memory;
}

/* The application's own memory, outside MPI. */
static void application(int rank) {
    touched((size_t)(rank + 1) << 25);
}

/* The same a page at a time, between calls that wait for the other ranks and take nothing. */
static void between(int rank) {
    enum { own = 8 << 20, page = 4096, calls = 3 };
    char* memory = mmap(NULL, own, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(memory, own, MADV_NOHUGEPAGE);
    for (int i = 0; i < own; i += page) {
        memory[i] = 1;
        for (int k = 0; k < calls; ++k) {
            if (rank == 1)
                for (double const until = MPI_Wtime() + 50e-6; MPI_Wtime() < until;) {
                }
            MPI_Barrier(MPI_COMM_WORLD);
        }
    }
}

/* The same at once, after many short calls in which nothing changed. */
static void arrays(int rank) {
    enum { own = 1 << 20, times = 24, calls = 500 };
    for (int i = 0; i < times; ++i) {
        for (int k = 0; k < calls; ++k) {
            if (rank == 1)
                for (double const until = MPI_Wtime() + 20e-6; MPI_Wtime() < until;) {
                }
            MPI_Barrier(MPI_COMM_WORLD);
            if (k == calls / 2) touched(own);
        }
    }
}

/* Messages wait in MPI until they are received. */
static void unexpected(int rank, int size) {
    enum { messages = 8000, bytes = 4000 };
    int go = 1;
    if (rank > 0) {
        char* buffer = touched(bytes);
        for (int i = 0; i < messages; ++i)
            INSIDE_MPI(0, MPI_Send(buffer, bytes, MPI_CHAR, 0, 1, MPI_COMM_WORLD));
        INSIDE_MPI(0, MPI_Send(&go, 1, MPI_INT, 0, 2, MPI_COMM_WORLD));
        return;
    }
    for (int source = 1; source < size; ++source)
        INSIDE_MPI(0, MPI_Recv(&go, 1, MPI_INT, source, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    char* buffer = touched(bytes);
    for (int i = 0; i < messages * (size - 1); ++i)
        INSIDE_MPI(0, MPI_Recv(buffer, bytes, MPI_CHAR, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

/* The same while the receiver asks for another message again and again, at first for long in vain. */
static void polled(int rank, int size) {
    enum { messages = 4000, bytes = 4000 };
    int go = 1;
    if (rank > 0) {
        char* buffer = touched(bytes);
        usleep(200000);
        for (int i = 0; i < messages; ++i)
            INSIDE_MPI(0, MPI_Send(buffer, bytes, MPI_CHAR, 0, 1, MPI_COMM_WORLD));
        INSIDE_MPI(0, MPI_Send(&go, 1, MPI_INT, 0, 2, MPI_COMM_WORLD));
        return;
    }
    for (int source = 1; source < size; ++source) {
        int is_there = 0;
        INSIDE_MPI(0, while (!is_there) MPI_Iprobe(source, 2, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE));
        INSIDE_MPI(0, MPI_Recv(&go, 1, MPI_INT, source, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
    char* buffer = touched(bytes);
    for (int i = 0; i < messages * (size - 1); ++i)
        INSIDE_MPI(0, MPI_Recv(buffer, bytes, MPI_CHAR, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

/* The same in one call, of a place where many short ones took nothing. */
static void waited(int rank) {
    enum { messages = 4000, bytes = 4000, first = 100, rounds = 5000 };
    int go = 1;
    char* buffer = touched(bytes);
    if (rank == 1) {
        for (int i = 0; i < rounds; ++i) {
            MPI_Send(&go, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
            MPI_Recv(&go, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        for (int i = 0; i < messages; ++i)
            INSIDE_MPI(0, MPI_Send(buffer, bytes, MPI_CHAR, 0, 1, MPI_COMM_WORLD));
        INSIDE_MPI(0, MPI_Send(&go, 1, MPI_INT, 0, 2, MPI_COMM_WORLD));
        return;
    }
    struct pages before = {0, 0};
    for (int i = 0; i <= rounds; ++i) {
        if (i == first) before = resident();
        MPI_Recv(&go, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (i < rounds) MPI_Send(&go, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);
    }
    struct pages const after = resident();
    taken.private_kib += after.private_kib - before.private_kib;
    taken.shared_kib += after.shared_kib - before.shared_kib;
    for (int i = 0; i < messages; ++i)
        INSIDE_MPI(0, MPI_Recv(buffer, bytes, MPI_CHAR, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

/* Buffers of the application whose pages become resident inside MPI. A first exchange warms up, because the
 * transport's own buffers belong to MPI. */
static void fresh_buffers(int rank, int size) {
    enum { bytes = 1 << 20, rounds = 32 };
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    char* out = touched(bytes);
    char* warm = touched(bytes);
    for (int i = 0; i < 4; ++i)
        INSIDE_MPI(0, MPI_Sendrecv(out, bytes, MPI_CHAR, next, 3, warm, bytes, MPI_CHAR, previous, 3, MPI_COMM_WORLD,
                                   MPI_STATUS_IGNORE));
    for (int i = 0; i < rounds; ++i) {
        char* fresh = aligned_alloc(4096, bytes);
        if (i % 2 == 0) {
            INSIDE_MPI(bytes / 1024, MPI_Sendrecv(out, bytes, MPI_CHAR, next, 3, fresh, bytes, MPI_CHAR, previous, 3,
                                                  MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        } else {
            MPI_Request open[2];
            INSIDE_MPI(0, MPI_Irecv(fresh, bytes, MPI_CHAR, previous, 4, MPI_COMM_WORLD, &open[0]));
            INSIDE_MPI(0, MPI_Isend(out, bytes, MPI_CHAR, next, 4, MPI_COMM_WORLD, &open[1]));
            INSIDE_MPI(bytes / 1024, MPI_Waitall(2, open, MPI_STATUSES_IGNORE));
        }
    }
}

/* A call into a buffer that was never touched. */
#define FRESH(bytes, call)                                  \
    do {                                                    \
        char* fresh = aligned_alloc(4096, (size_t)(bytes)); \
        INSIDE_MPI((bytes) / 1024, call);                   \
    } while (0)
#define FRESH_LATER(bytes, call)                                        \
    do {                                                                \
        char* fresh = aligned_alloc(4096, (size_t)(bytes));             \
        INSIDE_MPI(0, call);                                            \
        INSIDE_MPI((bytes) / 1024, MPI_Wait(&open, MPI_STATUS_IGNORE)); \
    } while (0)

/* Every kind of receive into a buffer that was never touched. */
static void untouched(int rank, int size) {
    enum { block = 1 << 20 };
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    int whole = size * block;
    int counts[size], places[size];
    MPI_Datatype types[size];
    MPI_Comm ring;
    MPI_Request open;
    for (int i = 0; i < size; ++i) {
        counts[i] = block;
        places[i] = i * block;
        types[i] = MPI_CHAR;
    }
    char* out = touched((size_t)(size > 1 ? whole : 2 * block));
    int const turns = 1;
    INSIDE_MPI(0, MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &turns, 0, &ring));
    MPI_Comm const all = MPI_COMM_WORLD;
    FRESH(whole, MPI_Alltoallv(out, counts, places, MPI_CHAR, fresh, counts, places, MPI_CHAR, all));
    FRESH(whole, MPI_Alltoallw(out, counts, places, types, fresh, counts, places, types, all));
    FRESH(whole, MPI_Allgatherv(out, block, MPI_CHAR, fresh, counts, places, MPI_CHAR, all));
    FRESH(rank == 0 ? whole : 0, MPI_Gatherv(out, block, MPI_CHAR, fresh, counts, places, MPI_CHAR, 0, all));
    FRESH(block, MPI_Reduce_scatter(out, fresh, counts, MPI_CHAR, MPI_MAX, all));
    FRESH(2 * block, MPI_Neighbor_allgather(out, block, MPI_CHAR, fresh, block, MPI_CHAR, ring));
    FRESH_LATER(whole, MPI_Ialltoallv(out, counts, places, MPI_CHAR, fresh, counts, places, MPI_CHAR, all, &open));
    FRESH_LATER(whole, MPI_Iallgatherv(out, block, MPI_CHAR, fresh, counts, places, MPI_CHAR, all, &open));
    int const ends[2] = {block, block}, begins[2] = {0, block};
    MPI_Aint const far_begins[2] = {0, block};
    MPI_Datatype const two[2] = {MPI_CHAR, MPI_CHAR};
    FRESH(2 * block, MPI_Neighbor_allgatherv(out, block, MPI_CHAR, fresh, ends, begins, MPI_CHAR, ring));
    FRESH(2 * block, MPI_Neighbor_alltoallw(out, ends, far_begins, two, fresh, ends, far_begins, two, ring));
    /* A persistent receive. */
    char* kept = aligned_alloc(4096, block);
    INSIDE_MPI(0, MPI_Recv_init(kept, block, MPI_CHAR, previous, 7, all, &open));
    INSIDE_MPI(0, MPI_Start(&open));
    INSIDE_MPI(block / 1024,
               MPI_Sendrecv(out, block, MPI_CHAR, next, 7, NULL, 0, MPI_CHAR, MPI_PROC_NULL, 7, all, MPI_STATUS_IGNORE);
               MPI_Wait(&open, MPI_STATUS_IGNORE));
    INSIDE_MPI(0, MPI_Request_free(&open));
    INSIDE_MPI(0, MPI_Comm_free(&ring));
}

/* Buffers whose pages come after the call that names them: windows, one-sided calls, buffered sends, files. */
static void late(int rank, int size) {
    enum { block = 8 << 20 };
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    MPI_Comm const all = MPI_COMM_WORLD;
    MPI_Request open;
    char* out = touched(block);
    char* window = aligned_alloc(4096, block);
    MPI_Win win;
    INSIDE_MPI(0, MPI_Win_create(window, block, 1, MPI_INFO_NULL, all, &win));
    INSIDE_MPI(block / 1024, MPI_Win_fence(0, win); MPI_Put(out, block, MPI_CHAR, next, 0, block, MPI_CHAR, win);
               MPI_Win_fence(0, win));
    FRESH(block, MPI_Get(fresh, block, MPI_CHAR, next, 0, block, MPI_CHAR, win); MPI_Win_fence(0, win));
    INSIDE_MPI(0, MPI_Barrier(all));
    FRESH(block, MPI_Win_lock(MPI_LOCK_SHARED, next, 0, win);
          MPI_Get(fresh, block, MPI_CHAR, next, 0, block, MPI_CHAR, win); MPI_Win_unlock(next, win));
    FRESH(block, MPI_Win_lock(MPI_LOCK_SHARED, next, 0, win);
          MPI_Rget(fresh, block, MPI_CHAR, next, 0, block, MPI_CHAR, win, &open); MPI_Wait(&open, MPI_STATUS_IGNORE);
          MPI_Win_unlock(next, win));
    INSIDE_MPI(0, MPI_Win_free(&win));
    int room = block + MPI_BSEND_OVERHEAD;
    void* sends = aligned_alloc(4096, (size_t)block + 65536); /* what MPI adds */
    INSIDE_MPI(0, MPI_Buffer_attach(sends, room));
    FRESH(2 * block, MPI_Bsend(out, block, MPI_CHAR, next, 8, all);
          MPI_Recv(fresh, block, MPI_CHAR, previous, 8, all, MPI_STATUS_IGNORE); MPI_Buffer_detach(&sends, &room));
    int place = 0;
    FRESH(block, MPI_Pack(out, block, MPI_CHAR, fresh, block, &place, all));
    place = 0;
    FRESH(block, MPI_Unpack(out, block, &place, fresh, block, MPI_CHAR, all));
    MPI_File file;
    char name[4096];
    snprintf(name, sizeof name, "%s/known-%d", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", (int)getpid());
    int const mode = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
    INSIDE_MPI(0, MPI_File_open(MPI_COMM_SELF, name, mode, MPI_INFO_NULL, &file));
    INSIDE_MPI(0, MPI_File_write_at(file, 0, out, block, MPI_CHAR, MPI_STATUS_IGNORE));
    FRESH(block, MPI_File_read_at(file, 0, fresh, block, MPI_CHAR, MPI_STATUS_IGNORE));
    FRESH(block, MPI_File_iread_at(file, 0, fresh, block, MPI_CHAR, &open); MPI_Wait(&open, MPI_STATUS_IGNORE));
    FRESH(block, MPI_File_read_at_all_begin(file, 0, fresh, block, MPI_CHAR);
          MPI_File_read_at_all_end(file, fresh, MPI_STATUS_IGNORE));
    INSIDE_MPI(0, MPI_File_close(&file));
}

/* A message into the begin of a buffer that is a thousand times as long: to look at its pages takes so long that most
 * samples are taken meanwhile. */
static void wide(int rank, int size) {
    enum { block = 1 << 20, sent = 8, room = 8192, messages = 20 };
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    MPI_Datatype blocks;
    MPI_Type_contiguous(block, MPI_CHAR, &blocks);
    MPI_Type_commit(&blocks);
    char* out = touched((size_t)sent * block);
    size_t const bytes = (size_t)room * block;
    for (int i = 0; i < messages; ++i) {
        char* fresh = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (fresh == MAP_FAILED) exit(1);
        INSIDE_MPI(rank == i % size ? sent * block / 1024 : 0,
                   if (rank == i % size) MPI_Recv(fresh, room, blocks, previous, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                   if (next == i % size) MPI_Send(out, sent, blocks, next, 9, MPI_COMM_WORLD));
        munmap(fresh, bytes);
    }
    MPI_Type_free(&blocks);
}

/* A thread of the program takes memory while the program waits in MPI. */
static char* volatile taken_beside;

static void* take(void* none) {
    usleep(300000);
    taken_beside = touched(32 << 20);
    return none;
}

static void beside(int rank) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, take, NULL) != 0) exit(1);
    if (rank == 0) usleep(700000);
    INSIDE_MPI(rank == 0 ? 0 : 32 << 10, MPI_Barrier(MPI_COMM_WORLD));
    pthread_join(thread, NULL);
}

/* Memory that MPI allocates for the program with a window is the application's, private or shared, whoever touches it
 * first. Twice a window is freed; the last one stays. */
static MPI_Win kept = MPI_WIN_NULL;

static void allocated(void) {
    enum { block = 32 << 20, block_kib = block / 1024, windows = 3 };
    for (int i = 0; i < windows; ++i) {
        MPI_Win win;
        char* memory;
        struct pages const before = resident();
        MPI_Win_allocate(block, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
        memset(memory, 1, block);
        struct pages const after = resident();
        long const shared = after.shared_kib - before.shared_kib;
        long const own_shared = shared >= block_kib ? block_kib : 0;
        taken.shared_kib += shared - own_shared;
        taken.private_kib += after.private_kib - before.private_kib - (block_kib - own_shared);
        if (i + 1 == windows) kept = win;
        if (i + 1 == windows) return;
        usleep(30000);
        INSIDE_MPI(own_shared - block_kib, MPI_Win_free(&win));
        taken.shared_kib += own_shared;
    }
}

static void communicators(void) {
    enum { number = 500 };
    static MPI_Comm made[number];
    for (int i = 0; i < number; ++i)
        INSIDE_MPI(0, MPI_Comm_dup(MPI_COMM_WORLD, &made[i]));
}

/* In all-to-alls in place, the staging belongs to Sluice. */
static void in_place(int size) {
    size_t bytes = (size_t)size << 20;
    char* blocks = touched(bytes);
    for (int i = 0; i < 5; ++i)
        MPI_Alltoall(MPI_IN_PLACE, 0, MPI_CHAR, blocks, 1 << 20, MPI_CHAR, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
    char const* what = argc > 1 ? argv[1] : "application";
    int rank, size;
    INSIDE_MPI(0, MPI_Init(&argc, &argv));
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (!strcmp(what, "application")) application(rank);
    if (!strcmp(what, "between")) between(rank);
    if (!strcmp(what, "arrays")) arrays(rank);
    if (!strcmp(what, "unexpected")) unexpected(rank, size);
    if (!strcmp(what, "polled")) polled(rank, size);
    if (!strcmp(what, "waited")) waited(rank);
    if (!strcmp(what, "fresh")) fresh_buffers(rank, size);
    if (!strcmp(what, "untouched")) untouched(rank, size);
    if (!strcmp(what, "late")) late(rank, size);
    if (!strcmp(what, "wide")) wide(rank, size);
    if (!strcmp(what, "beside")) beside(rank);
    if (!strcmp(what, "allocated")) allocated();
    if (!strcmp(what, "communicators")) communicators();
    if (!strcmp(what, "inplace")) in_place(size);
    if (strcmp(what, "inplace")) {
        struct smaps now = {0, 0, 0};
        if (!read_smaps(&now, NULL)) MPI_Abort(MPI_COMM_WORLD, 1);
        printf("truth %d mpi_private %ld\ntruth %d mpi_shared %ld\ntruth %d sluice_files %ld\n", rank,
               taken.private_kib, rank, taken.shared_kib, rank, now.own);
        fflush(stdout);
    }
    usleep(300000); /* so that the last sample shows this state */
    if (kept != MPI_WIN_NULL) MPI_Win_free(&kept);
    MPI_Finalize();
    return 0;
}
