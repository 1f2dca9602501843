/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The version of Sluice, for C99 and C++: of the headers by macros, of the library that was loaded by a function. Needs
 * no MPI. docs/compatibility.md says what a version promises. */
#ifndef SLUICE_VERSION_H
#define SLUICE_VERSION_H

#include "sluice/export.h"

#define SLUICE_VERSION_MAJOR 0
#define SLUICE_VERSION_MINOR 1
#define SLUICE_VERSION_PATCH 0

/** The version of the headers as one number that can be compared: 1.2.3 is 10203. */
#define SLUICE_VERSION_NUMBER (SLUICE_VERSION_MAJOR * 10000 + SLUICE_VERSION_MINOR * 100 + SLUICE_VERSION_PATCH)

#ifdef __cplusplus
extern "C" {
#endif

/** Names the version of the library that the program has loaded. It may be called at any time, by any thread.
 * @return "0.1.0", for example; never NULL */
SLUICE_API char const* sluice_version(void);

/** Gives the version of the library that the program has loaded as a number like SLUICE_VERSION_NUMBER.
 * @return 100 for 0.1.0 */
SLUICE_API int sluice_version_number(void);

#ifdef __cplusplus
}
#endif

#endif
