/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Reports: named figures of what a call or an object did on this rank. The library holds them, so a later version adds
 * figures without a change for programs that were compiled before: names stay, and new ones come. */
#ifndef SLUICE_C_REPORT_H
#define SLUICE_C_REPORT_H

#include <stddef.h>
#include <stdint.h>

#include "sluice/export.h"
#ifdef __cplusplus
extern "C" {
#endif

/** A list of figures, each with a name and a unit. A report may be filled again and again, by any function that fills
 * one; each time the figures before are gone; a call that fails leaves them. The functions that fill a report say which
 * names it has then. */
typedef struct sluice_report sluice_report;

/** What a figure is. A later version may add units. */
enum sluice_unit {
    SLUICE_UNIT_NONE = 0,    /**< there is no such figure */
    SLUICE_UNIT_COUNT = 1,   /**< a number of things; read it with sluice_report_get() */
    SLUICE_UNIT_BYTES = 2,   /**< a number of bytes; sluice_report_get() */
    SLUICE_UNIT_FLAG = 3,    /**< 1 for yes, 0 for no; sluice_report_get() */
    SLUICE_UNIT_SECONDS = 4, /**< a time; sluice_report_get_seconds() */
    SLUICE_UNIT_TEXT = 5     /**< a text; sluice_report_get_text() */
};

/** Makes an empty report.
 * @param[out] report receives the handle; the caller frees it with sluice_report_free()
 * @return SLUICE_SUCCESS, SLUICE_INVALID_ARGUMENT if `report` is NULL, or SLUICE_OUT_OF_MEMORY; the handle is NULL
 *         then. */
SLUICE_API int sluice_report_create(sluice_report** report);

/** Frees a report and its texts.
 * @param[in,out] report address of the handle, which becomes NULL
 * @return SLUICE_SUCCESS, or SLUICE_INVALID_ARGUMENT if `report` is NULL. */
SLUICE_API int sluice_report_free(sluice_report** report);

/** Reads a count, a number of bytes or a flag.
 * @param report     a filled report
 * @param name       name of the figure: "bytes_sent"
 * @param[out] value receives the figure; unchanged after a failure
 * @return SLUICE_SUCCESS, or SLUICE_INVALID_ARGUMENT if the report has no such figure, if it is a time or a text, or
 *         for a NULL. A program that is to run with older libraries, too, takes that code for "not known". */
SLUICE_API int sluice_report_get(sluice_report const* report, char const* name, uint64_t* value);

/** Reads a time.
 * @param report       a filled report
 * @param name         name of the figure: "seconds"
 * @param[out] seconds receives the time; unchanged after a failure
 * @return As sluice_report_get(). */
SLUICE_API int sluice_report_get_seconds(sluice_report const* report, char const* name, double* seconds);

/** Reads a text.
 * @param report    a filled report
 * @param name      name of the figure: "strategy"
 * @param[out] text receives the text, which lives until the report is filled again or freed; unchanged after a failure
 * @return As sluice_report_get(). */
SLUICE_API int sluice_report_get_text(sluice_report const* report, char const* name, char const** text);

/** Counts the figures of a report.
 * @param report a report
 * @return figures; 0 for an empty one and for NULL */
SLUICE_API size_t sluice_report_size(sluice_report const* report);

/** Names one figure. No two figures of a report have the same name.
 * @param report a report
 * @param which  0 for the first figure
 * @return The name, which lives until the report is filled again or freed; NULL past the last figure. */
SLUICE_API char const* sluice_report_name(sluice_report const* report, size_t which);

/** Tells what one figure is.
 * @param report a report
 * @param which  0 for the first figure
 * @return one of ::sluice_unit; SLUICE_UNIT_NONE past the last figure */
SLUICE_API int sluice_report_unit(sluice_report const* report, size_t which);

/** Tells the report in a few lines that people can read. What they say may change in every version.
 * @param report a filled report
 * @return a text, which lives until the report is filled again or freed; "" for NULL and for an empty report */
SLUICE_API char const* sluice_report_text(sluice_report const* report);

#ifdef __cplusplus
}
#endif

#endif
