/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The entry of a C program into the library: error codes, options, and one context for each communicator. sluice.h
 * tells the rules of the whole C interface. */
#ifndef SLUICE_C_CONTEXT_H
#define SLUICE_C_CONTEXT_H

#include <mpi.h>
#include <stddef.h>

#include "sluice/c/report.h"
#include "sluice/export.h"
#ifdef __cplusplus
extern "C" {
#endif

/** @name Errors
 * @{ */

/** The codes that functions return. Functions return them as `int`, because a later version may add codes. */
enum sluice_error_code {
    SLUICE_SUCCESS = 0,          /**< the call did what it says */
    SLUICE_INVALID_ARGUMENT = 1, /**< the caller's input is wrong; nothing was changed */
    SLUICE_OUT_OF_MEMORY = 2,    /**< an allocation or a lease failed before anything was changed */
    SLUICE_MPI_ERROR = 3,        /**< an MPI call returned an error code */
    SLUICE_UNSUPPORTED = 4,      /**< this build or this machine cannot do what was asked */
    SLUICE_INTERNAL = 5          /**< the library has a defect */
};

/** Explains the last failed call of this thread.
 * @return One text, which gives the ranks and numbers that matter. It is empty before the first failure, never NULL,
 *         and valid until the next failing call of this thread. */
SLUICE_API char const* sluice_last_error(void);

/** Names a code.
 * @param code what a function returned
 * @return "SLUICE_OUT_OF_MEMORY", for example; "unknown code" for a number that is none. Never NULL, valid for ever. */
SLUICE_API char const* sluice_error_name(int code);

/** @}
 * @name Options
 * @{ */

/** Settings by name and text, as the command line and the environment give them: ("staging", "64MiB"). An options
 * pointer may be NULL in every call: then nothing is overridden. Options may be freed as soon as the call that was
 * given them has returned. */
typedef struct sluice_options sluice_options;

/** Makes empty options.
 * @param[out] options receives the handle; the caller frees it with sluice_options_free()
 * @return SLUICE_SUCCESS, SLUICE_INVALID_ARGUMENT if `options` is NULL, or SLUICE_OUT_OF_MEMORY; the handle is NULL
 *         then. */
SLUICE_API int sluice_options_create(sluice_options** options);

/** Adds one setting; a later value of the same setting wins.
 * @param options what sluice_options_create() made
 * @param name    name of the setting, without `SLUICE_`: "staging"
 * @param value   its value as text: "64MiB", "128", "token". Both texts are copied.
 * @return SLUICE_SUCCESS, or SLUICE_INVALID_ARGUMENT for an unknown name, a value that is out of range or a NULL. */
SLUICE_API int sluice_options_set(sluice_options* options, char const* name, char const* value);

/** Frees options.
 * @param[in,out] options address of the handle, which becomes NULL
 * @return SLUICE_SUCCESS, or SLUICE_INVALID_ARGUMENT if `options` is NULL. */
SLUICE_API int sluice_options_free(sluice_options** options);

/** Counts the settings that this library knows.
 * @return rows of the table of settings */
SLUICE_API size_t sluice_setting_rows(void);

/** Reads one row of the table of settings.
 * @param which    0 for the first row
 * @param[out] row is filled with the texts `name`, `variable`, `kind` ("bytes", "count", "word" or "path"), `default`,
 *                 `words` (those that a word may be: "auto, message, ring") and `help`, and the numbers `least` and
 *                 `most`
 * @return SLUICE_SUCCESS, SLUICE_INVALID_ARGUMENT past the last row or for a NULL, or SLUICE_OUT_OF_MEMORY. */
SLUICE_API int sluice_setting_row(size_t which, sluice_report* row);

/** @}
 * @name Context
 * @{ */

/** The library on one communicator. The traffic of the library runs on a private communicator. */
typedef struct sluice_context sluice_context;

/** Makes a context. Collective over `comm`. Settings come from the defaults, then from the environment (`SLUICE_*`),
 * then from `options`.
 * @param comm         communicator of the ranks that will call the library together; it may be freed afterwards
 * @param options      settings that this rank overrides, or NULL
 * @param[out] context receives the handle; the caller frees it with sluice_context_free(); NULL after a failure
 * @return SLUICE_SUCCESS, or on every rank the same other code if one rank's settings are wrong, MPI fails or memory is
 *         missing. */
SLUICE_API int sluice_context_create(MPI_Comm comm, sluice_options const* options, sluice_context** context);

/** Tells the rank of this process.
 * @param context a context
 * @return its rank in the context, which is its rank in the communicator; -1 for NULL */
SLUICE_API int sluice_context_rank(sluice_context const* context);

/** Counts the ranks of a context.
 * @param context a context
 * @return ranks; 0 for NULL */
SLUICE_API int sluice_context_size(sluice_context const* context);

/** Reads the settings that a context uses on this rank.
 * @param context       a context
 * @param[out] settings is filled with one text for each setting, as sluice_options_set() accepts it
 * @return SLUICE_SUCCESS, SLUICE_INVALID_ARGUMENT for a NULL, or SLUICE_OUT_OF_MEMORY. */
SLUICE_API int sluice_context_settings(sluice_context const* context, sluice_report* settings);

/** Frees a context. Collective over the ranks of the context.
 * @param[in,out] context address of the handle, which becomes NULL
 * @return SLUICE_SUCCESS, or SLUICE_INVALID_ARGUMENT if `context` is NULL. */
SLUICE_API int sluice_context_free(sluice_context** context);

/** @} */

#ifdef __cplusplus
}
#endif

#endif
