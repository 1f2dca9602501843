/* The C interface of Sluice (C99). What the functions do is told in <sluice/redistribute.hpp>; here is how C sees it.
 *
 * Every function that can fail returns a code; sluice_last_error() tells the rest. Calls marked collective must be made
 * by all ranks of the context; bad input then gives the same code on every rank and nothing is changed. Only a null
 * handle (context, plan) is found by the rank alone, for it has nobody to tell.
 *
 * Objects are made by _create and ended by _free, which takes the address of the handle and sets it to NULL; a handle
 * that is NULL already is fine. Contexts and plans must end before MPI_Finalize, plans before their context. */
#ifndef SLUICE_SLUICE_H
#define SLUICE_SLUICE_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- errors --------------------------------------------------------------------------------------------------------
 */

enum {
    SLUICE_SUCCESS = 0,
    SLUICE_INVALID_ARGUMENT = 1, /* the caller's input; nothing was changed */
    SLUICE_OUT_OF_MEMORY = 2,    /* an allocation or a lease failed before anything was changed */
    SLUICE_MPI_ERROR = 3,        /* an MPI call returned an error code */
    SLUICE_UNSUPPORTED = 4,      /* this build or this machine cannot do what was asked */
    SLUICE_INTERNAL = 5          /* a defect of the library */
};

/* What the last failed call of this thread had to say, numbers included; "" before the first. Valid until the thread's
 * next failing call. Never NULL. */
char const* sluice_last_error(void);

/* --- options -------------------------------------------------------------------------------------------------------
 */

/* Settings by name and text, as the command line and the environment give them: ("staging", "64MiB"). Everywhere an
 * options pointer may be NULL: then nothing is overridden. Can be freed as soon as the call that got it has returned.
 */
typedef struct sluice_options sluice_options;

int sluice_options_create(sluice_options** options);
/* SLUICE_INVALID_ARGUMENT for an unknown name or a value out of range. */
int sluice_options_set(sluice_options* options, char const* name, char const* value);
int sluice_options_free(sluice_options** options);

/* --- context -------------------------------------------------------------------------------------------------------
 */

/* The library on one communicator. Its traffic runs on a private communicator. */
typedef struct sluice_context sluice_context;

/* Collective over comm. Settings come from the defaults, then the environment (SLUICE_*), then options. */
int sluice_context_create(MPI_Comm comm, sluice_options const* options, sluice_context** context);
/* Collective. */
int sluice_context_free(sluice_context** context);

/* --- report --------------------------------------------------------------------------------------------------------
 */

/* What one redistribution did on this rank. A report may be filled again and again; pass NULL where it does not matter.
 */
typedef struct sluice_report sluice_report;

int sluice_report_create(sluice_report** report);
int sluice_report_free(sluice_report** report);

double sluice_report_seconds(sluice_report const* report);
uint64_t sluice_report_blocks_sent(sluice_report const* report);     /* left for another rank */
uint64_t sluice_report_blocks_received(sluice_report const* report); /* came from another rank */
uint64_t sluice_report_blocks_local(sluice_report const* report); /* copied inside this rank, double copies included */
uint64_t sluice_report_bytes_sent(sluice_report const* report);
uint64_t sluice_report_bytes_received(sluice_report const* report);
uint64_t sluice_report_bytes_local(sluice_report const* report);
uint64_t sluice_report_rounds(sluice_report const* report);        /* phases, actions or passes, by strategy */
uint64_t sluice_report_requests_peak(sluice_report const* report); /* most MPI requests open at a time */
uint64_t sluice_report_extra_peak(sluice_report const* report);    /* most bytes held beside the caller's arrays */
/* Texts live until the report is filled again or freed. */
char const* sluice_report_strategy(sluice_report const* report);
char const* sluice_report_why(sluice_report const* report);
char const* sluice_report_text(sluice_report const* report); /* a few lines for people */
/* Steps in order: which = 0, 1, …; the name is NULL and the seconds are 0 past the last. */
size_t sluice_report_steps(sluice_report const* report);
char const* sluice_report_step_name(sluice_report const* report, size_t which);
double sluice_report_step_seconds(sluice_report const* report, size_t which);

/* --- redistribution ------------------------------------------------------------------------------------------------
 */

/* Collective. Moves block i of data (count blocks of block_bytes bytes) to slot indices[i] of rank ranks[i]; a negative
 * rank marks the block free, and so are the blocks from length on. ranks and indices may be NULL where length is 0,
 * data where count is 0. Of the options, strategy and staging may be overridden here; they must be equal on all ranks.
 */
int sluice_redistribute(sluice_context* context, void* data, uint64_t count, uint64_t block_bytes, uint64_t length,
                        int const* ranks, int64_t const* indices, sluice_options const* options, sluice_report* report);

/* Writes where block `index` goes. Called on the calling thread, at least once for each local block while it is in
 * place; must give the same answer each time, must not call MPI and must return (no longjmp). */
typedef void (*sluice_destination_function)(void* user, uint64_t index, void const* block, int* rank,
                                            int64_t* destination);

/* Collective. The same with a computed map: no list of destinations is needed. */
int sluice_redistribute_computed(sluice_context* context, void* data, uint64_t count, uint64_t block_bytes,
                                 sluice_destination_function destination, void* user, sluice_options const* options,
                                 sluice_report* report);

/* --- plan ----------------------------------------------------------------------------------------------------------
 */

/* A validated map that is applied to several arrays or many times. */
typedef struct sluice_plan sluice_plan;

typedef struct sluice_blocks {
    void* data;
    uint64_t count;
    uint64_t block_bytes;
} sluice_blocks;

/* Collective. ranks and indices can be freed afterwards. */
int sluice_plan_create(sluice_context* context, uint64_t count, uint64_t length, int const* ranks,
                       int64_t const* indices, sluice_options const* options, sluice_plan** plan);
/* Collective. Moves the blocks of each of the arrays, array after array; the count of each must be the plan's. */
int sluice_plan_apply(sluice_plan* plan, size_t arrays, sluice_blocks const* blocks, sluice_report* report);
/* Bytes the plan holds on this rank; 0 for NULL. */
uint64_t sluice_plan_memory(sluice_plan const* plan);
int sluice_plan_free(sluice_plan** plan);

#ifdef __cplusplus
}
#endif

#endif
