/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * SLUICE_API marks what the shared library exports; all else in it is hidden. */
#ifndef SLUICE_EXPORT_H
#define SLUICE_EXPORT_H

/** Stands before the name of a class, and before a function that is not a member. */
#if defined(__cplusplus) && __cplusplus >= 201103L
#define SLUICE_API [[gnu::visibility("default")]]
#elif defined(__GNUC__)
#define SLUICE_API __attribute__((visibility("default")))
#else
#define SLUICE_API
#endif

#endif
