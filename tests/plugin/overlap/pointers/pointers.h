/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
// A library that is preloaded before the layer and gives each call of MPI its pointers anew: what a pointer points to
// arrives by a message to the rank itself, in pages of its own, whose receive is still pending when the call begins.
// What the call has written there goes to the program's own place afterwards.
//
//     program ── MPI_X(p) ──> here: Isend copy of *p ── Recv into pages ──> MPI_X(pages) of the layer ── back to *p
//
// write_pointers.py writes the functions from the MPI's headers.
#include <stddef.h>

enum lasting {
    k_for_the_call,
    k_for_ever,  // the call only begins what reads it
};

struct place {
    void* given;           // by the program
    void* at;              // what the call gets instead
    unsigned char* pages;  // null: the call gets what was given
    unsigned char* copy;   // what has arrived there
    size_t before;         // bytes before `at`
    size_t bytes;          // of the pages
    int sending;           // of sends[]
    enum lasting lasting;
};

// A call of the program, not of another call, between MPI_Init and MPI_Finalize. It is inside until leave().
int enter(void);
void leave(void);

// A pointer to data of a message, or to something smaller. Data that are not few are given as they are.
enum { k_most_elements = 16384 };
struct place give_data(void const* given, enum lasting lasting, int are_few);
struct place give_small(void const* given, enum lasting lasting);
void begin_call(char const* name, struct place* places, int n);
void end_call(struct place* places, int n);

// Like dlsym(RTLD_NEXT, name), but it is there.
void* next_of(char const* name);
