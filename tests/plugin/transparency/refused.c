/* SPDX-License-Identifier: BSD-3-Clause */
// Calls that MPI refuses, and what comes after them: error handlers of the program are called once, objects that were
// not freed stay what they are, and a handler that leaves by longjmp leaves nothing behind. MPI_COMM_WORLD keeps
// MPI_ERRORS_ARE_FATAL, so that a question to it about a bad argument would end the program.
#include <alloca.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "handled.h"

static jmp_buf back;

static void count_window(MPI_Win* window, int* code, ...) {
    (void)window;
    (void)code;
    ++handled;
}
static void count_file(MPI_File* file, int* code, ...) {
    (void)file;
    (void)code;
    ++handled;
}
static void jump(MPI_Comm* comm, int* code, ...) {
    (void)comm;
    (void)code;
    longjmp(back, 1);
}

static void bad_collectives(MPI_Comm comm) {
    int data[8] = {0};
    int out[64] = {0};
    int const counts[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    int const places[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Datatype const wrong = wrong_type();
    HANDLED(MPI_Send(data, 1, wrong, me, 0, comm));
    HANDLED(MPI_Recv(data, 1, wrong, me, 0, comm, MPI_STATUS_IGNORE));
    HANDLED(MPI_Isend(data, 1, wrong, me, 0, comm, &request));
    HANDLED(MPI_Bcast(data, 1, wrong, 0, comm));
    HANDLED(MPI_Bcast(data, 1, MPI_INT, -7, comm));
    HANDLED(MPI_Gather(data, 1, wrong, out, 1, MPI_INT, 0, comm));
    HANDLED(MPI_Allgather(data, 1, MPI_INT, out, 1, wrong, comm));
    HANDLED(MPI_Allgatherv(data, 1, MPI_INT, out, counts, places, wrong, comm));
    HANDLED(MPI_Alltoall(data, 1, wrong, out, 1, MPI_INT, comm));
    HANDLED(MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, 1 << 16, wrong, comm));
    HANDLED(MPI_Alltoallv(data, counts, places, MPI_INT, out, counts, places, wrong, comm));
}

static void bad_communicators(void) {
    int data = 0;
    MPI_Comm const wrong = wrong_comm();
    MPI_Comm made = MPI_COMM_NULL;
    HANDLED(MPI_Barrier(wrong));
    HANDLED(MPI_Bcast(&data, 1, MPI_INT, 0, wrong));
#ifdef MPICH_VERSION  // Open MPI 4.1.4 crashes in them
    HANDLED(MPI_Allgather(&data, 1, MPI_INT, &data, 1, MPI_INT, wrong));
    HANDLED(MPI_Neighbor_alltoall(&data, 1, MPI_INT, &data, 1, MPI_INT, wrong));
#endif
    HANDLED(MPI_Comm_dup(wrong, &made));
    HANDLED(MPI_Comm_free(&(MPI_Comm){wrong}));
}

// Open MPI itself reads through these pointers.
static void null_pointers(void) {
#ifdef MPICH_VERSION
    HANDLED(MPI_Comm_free(NULL));
    HANDLED(MPI_Comm_disconnect(NULL));
    HANDLED(MPI_Request_free(NULL));
    HANDLED(MPI_Win_free(NULL));
    HANDLED(MPI_Wait(NULL, MPI_STATUS_IGNORE));
#endif
}

static void windows_and_files(void) {
    int data = 0;
    int* memory = NULL;
    MPI_Win window;
    MPI_Errhandler counts;
    MPI_Datatype const wrong = wrong_type();
    MPI_Win_allocate(64, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    MPI_Win_create_errhandler(count_window, &counts);
    MPI_Win_fence(0, window);
    for (int way = 0; way < 2; ++way) {
        MPI_Win_set_errhandler(window, way == 0 ? MPI_ERRORS_RETURN : counts);
        HANDLED(MPI_Put(&data, 1, wrong, me, 0, 1, MPI_INT, window));
        HANDLED(MPI_Get(&data, 1, wrong, me, 0, 1, MPI_INT, window));
        HANDLED(MPI_Fetch_and_op(&data, &data, wrong, me, 0, MPI_SUM, window));
    }
    MPI_Win_set_errhandler(window, MPI_ERRORS_ARE_FATAL);
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
    MPI_Errhandler_free(&counts);

    char name[4096];
    MPI_File file;
    MPI_Errhandler file_counts;
    snprintf(name, sizeof name, "%s/refused-%d", getenv("SCRATCH"), me);
    MPI_File_create_errhandler(count_file, &file_counts);
    CALL(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    for (int way = 0; way < 2; ++way) {
        MPI_File_set_errhandler(file, way == 0 ? MPI_ERRORS_RETURN : file_counts);
        HANDLED(MPI_File_write_at(file, 0, &data, 1, wrong, MPI_STATUS_IGNORE));
        HANDLED(MPI_File_read(file, &data, 1, wrong, MPI_STATUS_IGNORE));
        HANDLED(MPI_File_read(file, &data, -1, MPI_INT, MPI_STATUS_IGNORE));
    }
    CALL(MPI_File_close(&file));
    MPI_Errhandler_free(&file_counts);
}

// What MPI refuses to free stays what it is.
static void refused_free(void) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    if (me == 0) {
        MPI_Comm copy = MPI_COMM_WORLD;
        HANDLED(MPI_Comm_free(&copy));
        copy = MPI_COMM_SELF;
        HANDLED(MPI_Comm_free(&copy));
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    all_to_all(MPI_COMM_WORLD, "after a free that was refused");
}

// The next call of MPI comes from a deeper frame than the call that was left, over memory that nothing has written.
static __attribute__((noinline)) void from_below(int depth, MPI_Comm comm) {
    char* volatile unwritten = alloca(4096);
    (void)unwritten;
    if (depth > 0) {
        from_below(depth - 1, comm);
        return;
    }
    all_to_all(comm, "from below");
}

static __attribute__((noinline)) void fail(int depth, MPI_Comm comm) {
    char* volatile unwritten = alloca(1024);
    (void)unwritten;
    if (depth > 0) {
        fail(depth - 1, comm);
        return;
    }
    int data = 0;
    MPI_Send(&data, -1, MPI_INT, me, 0, comm);
    say("a send of -1 elements returned");
}

static void jumps(MPI_Comm comm) {
    MPI_Errhandler jumping;
    MPI_Comm_create_errhandler(jump, &jumping);
    MPI_Comm_set_errhandler(comm, jumping);
    for (int depth = 0; depth < 3; ++depth) {
        if (me == 0) {
            if (setjmp(back) == 0) fail(depth, comm);
            say("jumped");
        }
        all_to_all(comm, "from above");
        if (me == 0 && setjmp(back) == 0) fail(depth, comm);
        from_below(2, comm);
    }
    MPI_Errhandler_free(&jumping);
}

int main(int argc, char** argv) {
    open_transcript("");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm copy;
    MPI_Errhandler counts;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_create_errhandler(count_comm, &counts);
    MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
    bad_collectives(copy);
    MPI_Comm_set_errhandler(copy, counts);
    bad_collectives(copy);
    windows_and_files();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, counts);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, counts);
    bad_communicators();
    null_pointers();
    refused_free();
    jumps(copy);
    MPI_Comm_set_errhandler(copy, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_free(&copy);
    MPI_Errhandler_free(&counts);
    return end();
}
