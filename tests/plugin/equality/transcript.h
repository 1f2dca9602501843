/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
// The transcript holds everything that a program observes of MPI, one line for each observation, the same in each run.
// It goes to $TRANSCRIPT/<rank>.txt, or to standard output without that variable; next to it, <rank>.layer says whether
// the preload plugin is in this process. compare.py compares the lines of two runs, without and with the plugin.
#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

enum { k_untouched = 7777 };  // the values of MPI_ERROR, MPI_SOURCE and MPI_TAG in a status before a call

extern int me;     // rank in MPI_COMM_WORLD
extern int ranks;  // size of MPI_COMM_WORLD

// Calls MPI_Init, sets MPI_ERRORS_RETURN on MPI_COMM_WORLD and MPI_COMM_SELF unless the environment has
// EQUALITY_ERRORS_ARE_FATAL, and opens the transcript.
void begin(int* argc, char*** argv);
// Calls MPI_Finalize and closes the transcript; returns the exit code of main.
int end(void);

// For programs that initialise in their own way. The file's name is `prefix` and the rank that the launcher put into
// the environment.
void open_transcript(char const* prefix);

// Writes one line. The format is that of printf.
void say(char const* format, ...) __attribute__((format(printf, 1, 2)));

// Writes a text as it is (for Fortran).
void say_text(char const* text);

// Writes the text of a call and its return code as an error class; returns the code.
int called(char const* text, int code);
#define CALL(expression) called(#expression, expression)

// untouched_status() makes a status for a call; say_status() writes what the call made of it: source, tag, count in
// units of the type, cancelled, MPI_ERROR.
MPI_Status untouched_status(void);
void say_status(char const* what, MPI_Status const* status, MPI_Datatype type);

// Fills memory with a pattern of (seed, position); returns a 64-bit sum of bytes that depends on their order.
void fill(void* buffer, size_t bytes, unsigned seed);
uint64_t checksum(void const* buffer, size_t bytes);
void say_bytes(char const* what, void const* buffer, size_t bytes);
void say_ints(char const* what, int const* values, int count);

// Like malloc, but ends the program if there is no memory.
void* room(size_t bytes);
