/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SLUICE_TESTS_PLUGIN_NAMES_THROUGH_LIBRARY_H
#define SLUICE_TESTS_PLUGIN_NAMES_THROUGH_LIBRARY_H

/* A barrier, behind `depth` further frames of 64 KiB. */
int library_meets(int depth);
/* A barrier on a thread of the library. */
int library_meets_in_thread(void);
/* A barrier that needs `room` only. */
int library_meets_on(char* room, int bytes);

#endif
