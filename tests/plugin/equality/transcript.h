/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
// The transcript: everything a program notices of MPI, one line for each thing, the same in each run.
// It goes to $TRANSCRIPT/<rank>.txt, or to standard output without that variable; beside it, <rank>.layer says whether
// the preload plugin is in this process. The lines of two runs, without and with it, are compared by compare.py.
#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

enum { k_untouched = 7777 };  // what MPI_ERROR, MPI_SOURCE and MPI_TAG of a status hold before a call

extern int me;     // rank in MPI_COMM_WORLD
extern int ranks;  // its size

// MPI_Init, MPI_ERRORS_RETURN on the world, and the transcript.
void begin(int* argc, char*** argv);
// MPI_Finalize and the transcript's end; what main returns.
int end(void);

// For programs that initialise in their own way: name is the rank that the launcher gave (environment), prefix before
// it.
void open_transcript(char const* prefix);

// One line. The format is printf's.
void say(char const* format, ...) __attribute__((format(printf, 1, 2)));

// The same for a text as it is (from Fortran).
void say_text(char const* text);

// The text of a call and its return code as an error class; gives the code back.
int called(char const* text, int code);
#define CALL(expression) called(#expression, expression)

// A status before a call, and what the call made of it: source, tag, count in units of the type, cancelled, MPI_ERROR.
MPI_Status untouched_status(void);
void say_status(char const* what, MPI_Status const* status, MPI_Datatype type);

// Fills with a pattern of (seed, position); 64-bit sum of the bytes in their order.
void fill(void* buffer, size_t bytes, unsigned seed);
uint64_t checksum(void const* buffer, size_t bytes);
void say_bytes(char const* what, void const* buffer, size_t bytes);
void say_ints(char const* what, int const* values, int count);

// malloc, which ends the program when there is no memory.
void* room(size_t bytes);
