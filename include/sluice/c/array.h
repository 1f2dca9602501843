/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Arrays in memory that the ranks of a node share: redistributions copy their blocks straight from one array into
 * another, without messages. sluice/allocate.hpp explains them. */
#ifndef SLUICE_C_ARRAY_H
#define SLUICE_C_ARRAY_H

#include <stdint.h>

#include "sluice/c/context.h"
#include "sluice/export.h"
#ifdef __cplusplus
extern "C" {
#endif

/** The owner of one array. */
typedef struct sluice_array sluice_array;

/** Makes an array. Local: ranks need not call it together.
 * @param context    the rank that the array belongs to; it may be freed before the array
 * @param bytes      bytes of the array, zero at first; the memory has whole pages
 * @param[out] array receives the handle; the caller frees it with sluice_array_free(), also after MPI_Finalize; NULL
 *                   after a failure
 * @return SLUICE_SUCCESS, SLUICE_INVALID_ARGUMENT or SLUICE_OUT_OF_MEMORY. Where the system refuses memory that can be
 *         shared, the array lies in private memory. */
SLUICE_API int sluice_array_create(sluice_context* context, uint64_t bytes, sluice_array** array);

/** Returns the memory of an array.
 * @param array an array
 * @return the first byte, at a page; valid until the array is freed. NULL for NULL, and for an array of 0 bytes */
SLUICE_API void* sluice_array_data(sluice_array const* array);

/** Tells whether the other ranks of the node can map an array.
 * @param array an array
 * @return 1, or 0 for private memory and for NULL */
SLUICE_API int sluice_array_is_shared(sluice_array const* array);

/** Frees an array.
 * @param[in,out] array address of the handle, which becomes NULL
 * @return SLUICE_SUCCESS, or SLUICE_INVALID_ARGUMENT if `array` is NULL. */
SLUICE_API int sluice_array_free(sluice_array** array);

#ifdef __cplusplus
}
#endif

#endif
