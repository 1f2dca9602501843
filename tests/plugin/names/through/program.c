/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls MPI through a library from several places, and prints their lines: "PLACE LINE". */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

#include "library.h"

static int rank;

static void tell(char const* place, int line) {
    if (rank == 0) printf("%s %d\n", place, line);
}

__attribute__((noinline)) static void first(int depth) {
    if (library_meets(depth) < 0) exit(1);  // the line of `first`
    tell("first", __LINE__ - 1);
}

__attribute__((noinline)) static void second(void) {
    if (library_meets(0) < 0) exit(1);
    tell("second", __LINE__ - 1);
}

/* On a stack that is shorter than the way on which the library was called before. */
static ucontext_t main_stack, short_stack;
static char room[16];

static void shortly(void) {
    if (library_meets_on(room, sizeof room) < 0) exit(1);
    tell("shortly", __LINE__ - 1);
}

int main(int argc, char** argv) {
    int given = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &given);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 10; ++i) {
        first(0);
        first(3);
        second();
    }
    if (given >= MPI_THREAD_SERIALIZED && library_meets_in_thread() != 0) return 1;
    static char stack[64 * 1024];
    getcontext(&short_stack);
    short_stack.uc_stack.ss_sp = stack;
    short_stack.uc_stack.ss_size = sizeof stack;
    short_stack.uc_link = &main_stack;
    makecontext(&short_stack, shortly, 0);
    swapcontext(&main_stack, &short_stack);
    for (int i = 0; i < 5; ++i)
        MPI_Barrier(MPI_COMM_WORLD);
    tell("main", __LINE__ - 1);
    MPI_Finalize();
    return 0;
}
