/* SPDX-License-Identifier: BSD-3-Clause */
/* The part in C of a program that uses both interfaces. */
#ifndef SLUICE_TESTS_C_MIXED_PART_H
#define SLUICE_TESTS_C_MIXED_PART_H

#include "sluice/sluice.h"
#ifdef __cplusplus
extern "C" {
#endif

/* Sends each of `count` numbers to the next rank, in reverse. Returns a code of Sluice. */
int pass_on_in_c(sluice_context* context, double* numbers, uint64_t count, sluice_report* report);

/* Runs `step` with `user` from C, as a C library calls its user's function. */
void call_from_c(void (*step)(void* user), void* user);

#ifdef __cplusplus
}
#endif

#endif
