/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Transposes of distributed 3-D arrays for C, in place or from one array into another: the array is divided along
 * another axis, so that the axis which was divided before lies whole on each rank. sluice/transpose.hpp says the same
 * for C++, sluice.h tells the rules of the whole C interface. */
#ifndef SLUICE_C_TRANSPOSE_H
#define SLUICE_C_TRANSPOSE_H

#include <stdint.h>

#include "sluice/c/context.h"
#include "sluice/c/report.h"
#include "sluice/export.h"
#ifdef __cplusplus
extern "C" {
#endif

/** A 3-D array as a whole, the same on all ranks. */
typedef struct sluice_array_shape {
    int64_t extents[3];     /**< elements along axes 0, 1 and 2; may be 0 */
    uint64_t element_bytes; /**< size of one element, at least 1 */
} sluice_array_shape;

/** How an array is divided among the ranks of a context, and in which order each rank stores its part. Rank r has part
 * (c0, c1, c2) with r = (c0 * grid[1] + c1) * grid[2] + c2. */
typedef struct sluice_array_layout {
    int grid[3];      /**< parts along each axis; their product is the number of ranks */
    int order[3];     /**< the axes as stored: the first varies slowest, the last is contiguous */
    int64_t block[3]; /**< elements of a part along each axis, as in FFTW; 0: parts as even as possible */
} sluice_array_layout;

/** How elements travel to other ranks. */
enum sluice_wire_type {
    SLUICE_WIRE_TYPE_AS_STORED = 0,       /**< bit by bit */
    SLUICE_WIRE_TYPE_FLOAT_FOR_DOUBLE = 1 /**< elements are made of doubles, each of which travels as a float. Elements
                                             that stay on their rank keep all bits. */
};

/** The layout of slabs, with even parts: the array is divided along one axis.
 * @param axis        0, 1 or 2
 * @param ranks       number of ranks
 * @param order       the axes as stored; NULL: 0, 1, 2
 * @param[out] layout receives the layout
 * @return SLUICE_SUCCESS, or SLUICE_INVALID_ARGUMENT. */
SLUICE_API int sluice_slabs(int axis, int ranks, int const* order, sluice_array_layout* layout);

/** The layout of pencils, with even parts: the array is whole along one axis and divided along the other two.
 * @param along       the axis that is whole
 * @param rows        parts along the first of the other two axes
 * @param columns     parts along the second of them
 * @param order       the axes as stored; NULL: 0, 1, 2
 * @param[out] layout receives the layout
 * @return SLUICE_SUCCESS, or SLUICE_INVALID_ARGUMENT. */
SLUICE_API int sluice_pencils(int along, int rows, int columns, int const* order, sluice_array_layout* layout);

/** The part of a rank.
 * @param extents    elements along each axis, three numbers
 * @param layout     how the array is divided
 * @param rank       a rank, from 0 on
 * @param[out] begin receives the first index along each axis, three numbers
 * @param[out] end   receives the index after the last
 * @return SLUICE_SUCCESS, or SLUICE_INVALID_ARGUMENT for a layout or a rank that does not exist. */
SLUICE_API int sluice_part_of(int64_t const* extents, sluice_array_layout const* layout, int rank, int64_t* begin,
                              int64_t* end);

/** Transposes an array. Collective over the context. `before` divides one axis that `after` does not divide, `after`
 * divides another one into equally many parts, and the third axis is divided alike in both; or they differ only in
 * their orders. sluice/transpose.hpp tells the memory that is needed.
 * @param context     the ranks that hold the array
 * @param shape       the array as a whole
 * @param before      how it is divided and stored in `from`
 * @param after       how it shall be divided and stored in `to`
 * @param from        the part of this rank; may be NULL if it is empty
 * @param to          memory for the part that this rank gets. On all ranks the same as `from`: the array is transposed
 *                    in place, and its memory has room for the larger of both parts. Else the two do not overlap.
 * @param wire        how elements travel, of enum ::sluice_wire_type
 * @param options     an override of `staging`, equal on all ranks, or NULL
 * @param[out] report is filled, or NULL. Its figures are those of sluice::TransposeReport: in bytes `sent`, `received`,
 *                    `kept` and `staging`; `steps`, `messages`, `swapped`, `pulled`; the flag `in_place`.
 * @return SLUICE_SUCCESS, or the same other code on every rank; no byte has moved then. */
SLUICE_API int sluice_transpose(sluice_context* context, sluice_array_shape const* shape,
                                sluice_array_layout const* before, sluice_array_layout const* after, void const* from,
                                void* to, int wire, sluice_options const* options, sluice_report* report);

/** A transpose that is checked and agreed on once and applied many times. It holds no memory for data. */
typedef struct sluice_transpose_plan sluice_transpose_plan;

/** Makes a plan. Collective over the context.
 * @param context   the ranks that hold the arrays
 * @param shape     the array as a whole
 * @param before    how it is divided and stored before each transpose
 * @param after     how it is divided and stored afterwards
 * @param wire      how elements travel, of enum ::sluice_wire_type
 * @param options   an override of `staging`, equal on all ranks, or NULL
 * @param[out] plan receives the handle; the caller frees it with sluice_transpose_plan_free(); NULL after a failure
 * @return SLUICE_SUCCESS, or the same other code on every rank. */
SLUICE_API int sluice_transpose_plan_create(sluice_context* context, sluice_array_shape const* shape,
                                            sluice_array_layout const* before, sluice_array_layout const* after,
                                            int wire, sluice_options const* options, sluice_transpose_plan** plan);

/** Transposes an array by a plan. Collective over the context of the plan.
 * @param plan        what sluice_transpose_plan_create() made
 * @param from        as for sluice_transpose()
 * @param to          as for sluice_transpose()
 * @param[out] report is filled as by sluice_transpose(), or NULL
 * @return SLUICE_SUCCESS, or the same other code on every rank; no byte has moved then. */
SLUICE_API int sluice_transpose_plan_apply(sluice_transpose_plan* plan, void const* from, void* to,
                                           sluice_report* report);

/** Frees a plan.
 * @param[in,out] plan address of the handle, which becomes NULL
 * @return SLUICE_SUCCESS, or SLUICE_INVALID_ARGUMENT if `plan` is NULL. */
SLUICE_API int sluice_transpose_plan_free(sluice_transpose_plan** plan);

#ifdef __cplusplus
}
#endif

#endif
