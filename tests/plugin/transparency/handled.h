/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
// Calls that MPI refuses, in programs with a transcript: HANDLED writes a call, its code, and how often error handlers
// of the program were called.
#include <mpi.h>
#include <stdlib.h>

#include "transcript.h"

static int handled = 0;

static inline void count_comm(MPI_Comm* comm, int* code, ...) {
    (void)comm;
    (void)code;
    ++handled;
}

#define HANDLED(expression)                      \
    do {                                         \
        handled = 0;                             \
        CALL(expression);                        \
        say("handler called %d times", handled); \
    } while (0)

// A handle that MPI finds to be wrong by looking at it.
static inline MPI_Datatype wrong_type(void) {
#ifdef MPICH_VERSION
    return (MPI_Datatype)0x0c00fff1;
#else
    return MPI_DATATYPE_NULL;
#endif
}

static inline MPI_Comm wrong_comm(void) {
#ifdef MPICH_VERSION
    return (MPI_Comm)0x0400fff1;
#else
    return MPI_COMM_NULL;
#endif
}

// Large enough that Sluice serves it where all members go along.
static inline void all_to_all(MPI_Comm comm, char const* when) {
    enum { k_block = 1 << 16 };
    int const size = ranks * k_block;
    int* data = room((size_t)size * sizeof *data);
    for (int i = 0; i < size; ++i)
        data[i] = me * 1000003 + i;
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, k_block, MPI_INT, comm);
    say_bytes(when, data, (size_t)size * sizeof *data);
    free(data);
}
