/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
// Receives that stay pending for a while: the sender starts its message and makes no progress, so a receive that has
// been matched returns early under `sluice run --overlap on`, and its data come when the sender goes on. Without the
// layer the receive waits for that.
//
//     sender     MPI_Isend ── sleeps ──────────────────── MPI_Wait
//     receiver   MPI_Recv ── returns early ── touches ....|waits|── goes on
//
// This needs a transport whose receiver cannot fetch by itself (tcp, and no shared memory).
#include <mpi.h>
#include <stddef.h>

// Makes errors of MPI_COMM_WORLD and MPI_COMM_SELF fatal again (begin() of transcript.h does not): a receive returns
// early only where errors are fatal. At the end of the process the number of touches that found a page without its data
// is written on standard error, in a line that compare.py takes for one of the layer.
void expect_early_returns(void);
// The environment has EQUALITY_ERRORS_ARE_FATAL: the program sets no error handler at all, so calls may go beside
// receives that are pending, and nonblocking receives are held.
int are_errors_always_fatal(void);

// Ranks form pairs: an even rank receives from the next one. A last even rank has no partner, -1.
int partner(void);
int receives(void);

// Sends without progress for a while.
void send_slowly(void const* data, size_t bytes, int to, int tag);
void send_slowly_on(MPI_Comm comm, void const* data, size_t bytes, int to, int tag);
extern int hold_ms;  // how long

// Call it just before a touch of memory that may be pending.
void count_touch(void const* address);

// Pages of an anonymous mapping of their own, filled with `value`.
void* whole_pages(size_t bytes, int value);
