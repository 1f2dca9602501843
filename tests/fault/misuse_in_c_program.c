/* SPDX-License-Identifier: BSD-3-Clause */
/* Handles of the C interface that are freed, never made, of another kind, or used before MPI_Init and after
 * MPI_Finalize: each use gives a code and a text that names the object. */
#include "../c/c_check.h"
#include "madre.h"

/* Each handle is used after it was freed. */
static void freed_handles(sluice_context* context) {
    sluice_options *options = NULL, *old_options;
    sluice_report *report = NULL, *old_report;
    sluice_plan *plan = NULL, *old_plan;
    sluice_store *store = NULL, *old_store;
    sluice_paged_file *file = NULL, *old_file;
    sluice_paged_blocks *blocks = NULL, *old_blocks;
    sluice_budget *budget = NULL, *old_budget;
    sluice_lease *lease = NULL, *old_lease, *part = NULL;
    sluice_context *second = NULL, *old_context;
    double data[2] = {1, 2};
    int here[2];
    int64_t places[2] = {0, 1};
    int64_t numbers[64] = {0};
    sluice_block_use const use = {0, SLUICE_BLOCK_ACCESS_READ};
    sluice_blocks const arrays = {data, 2, sizeof(double)};
    uint64_t value = 0;
    sluice_fetch_request want;
    here[0] = here[1] = rank;
    want = request_of(rank, 1, 0, 8);

    OK(sluice_options_create(&options));
    OK(sluice_report_create(&report));
    OK(sluice_context_create(MPI_COMM_WORLD, options, &second));
    OK(sluice_plan_create(second, 2, 2, here, places, NULL, &plan));
    OK(sluice_store_create(second, &store));
    OK(sluice_paged_file_create_equal(second, 1, 4096, &file));
    OK(sluice_paged_file_use_now(file, &use, 1, &blocks));
    OK(sluice_context_budget(second, &budget));
    OK(sluice_budget_try_lease(budget, 4096, SLUICE_PURPOSE_OTHER, &lease));
    old_options = options, old_report = report, old_plan = plan, old_store = store, old_file = file;
    old_blocks = blocks, old_budget = budget, old_lease = lease, old_context = second;

    /* The context goes first; what was made on it goes on. */
    OK(sluice_context_free(&second));
    OK(sluice_plan_apply(plan, 1, &arrays, report));
    OK(sluice_store_publish_bytes(store, key_of(rank, 1, 0), data, 8, 1));
    OK(sluice_store_withdraw(store, key_of(rank, 1, 0)));
    OK(sluice_paged_blocks_free(&blocks));
    OK(sluice_paged_file_report(file, report));
    OK(sluice_store_free(&store));
    OK(sluice_plan_free(&plan));
    OK(sluice_paged_file_free(&file));
    OK(sluice_lease_free(&lease));
    OK(sluice_budget_free(&budget));
    OK(sluice_options_free(&options));
    OK(sluice_report_free(&report));

    REFUSED(sluice_context_free(&old_context), "context is the handle of a context that was freed before");
    EXPECT(sluice_context_rank(old_context) == -1 && sluice_context_size(old_context) == 0);
    REFUSED(sluice_store_create(old_context, &store), "context that was freed before");
    REFUSED(sluice_plan_create(old_context, 2, 2, here, places, NULL, &plan), "context that was freed before");
    REFUSED(sluice_redistribute(old_context, data, 2, 8, 2, here, places, NULL, NULL), "context that was freed before");
    REFUSED(sluice_alltoall_in_place(old_context, numbers, 1, MPI_INT64_T, NULL), "context that was freed before");
    REFUSED(sluice_paged_file_create_equal(old_context, 1, 4096, &file), "context that was freed before");
    REFUSED(sluice_plan_apply(old_plan, 1, &arrays, NULL), "plan that was freed before");
    REFUSED(sluice_plan_free(&old_plan), "plan that was freed before");
    EXPECT(sluice_plan_memory(old_plan) == 0);
    REFUSED(sluice_store_publish_bytes(old_store, key_of(rank, 1, 0), data, 8, 1), "store that was freed before");
    REFUSED(sluice_store_progress(old_store, NULL), "store that was freed before");
    REFUSED(sluice_store_wait(old_store), "store that was freed before");
    REFUSED(sluice_store_finish(old_store), "store that was freed before");
    REFUSED(sluice_store_free(&old_store), "store that was freed before");
    REFUSED(sluice_store_fetch_all(old_store, &want, 1, NULL, NULL), "store that was freed before");
    EXPECT(sluice_store_open_sets(old_store) == 0);
    REFUSED(sluice_paged_file_use_now(old_file, &use, 1, &blocks), "paged file that was freed before");
    REFUSED(sluice_paged_file_free(&old_file), "paged file that was freed before");
    EXPECT(sluice_paged_blocks_count(old_blocks) == 0 && sluice_paged_blocks_data(old_blocks, 0) == NULL);
    REFUSED(sluice_paged_blocks_free(&old_blocks), "paged blocks that was freed before");
    REFUSED(sluice_budget_set_limit(old_budget, 1), "budget that was freed before");
    REFUSED(sluice_budget_free(&old_budget), "budget that was freed before");
    REFUSED(sluice_lease_split(old_lease, 1, &part), "lease that was freed before");
    REFUSED(sluice_lease_free(&old_lease), "lease that was freed before");
    EXPECT(sluice_lease_bytes(old_lease) == 0);
    REFUSED(sluice_options_set(old_options, "staging", "1MiB"), "options that was freed before");
    REFUSED(sluice_options_free(&old_options), "options that was freed before");
    REFUSED(sluice_report_get(old_report, "bytes_sent", &value), "report that was freed before");
    REFUSED(sluice_report_free(&old_report), "report that was freed before");
    EXPECT(sluice_report_size(old_report) == 0 && strcmp(sluice_report_text(old_report), "") == 0);
    /* All ranks agree on a report or options that one rank has freed, and nothing is moved. */
    REFUSED(sluice_redistribute(context, data, 2, 8, 2, here, places, old_options, NULL),
            "options that was freed before");
    REFUSED(sluice_redistribute(context, data, 2, 8, 2, here, places, NULL, rank == 0 ? old_report : NULL),
            "report that was freed before");
    REFUSED(sluice_alltoall_in_place(context, numbers, 1, MPI_INT64_T, old_report), "report that was freed before");
}

/* A place of the table is used again, and still knows the old handle. */
static void reused_handles(void) {
    sluice_report *first = NULL, *old, *second = NULL;
    int i;
    OK(sluice_report_create(&first));
    old = first;
    OK(sluice_report_free(&first));
    for (i = 0; i < 1000; ++i) {
        OK(sluice_report_create(&second));
        REFUSED(sluice_report_free(&old), "freed before");
        OK(sluice_report_free(&second));
    }
}

static void handles_of_other_kinds(sluice_context* context) {
    sluice_report* report = NULL;
    sluice_store* garbage = (sluice_store*)(void*)&report;
    uint64_t number = 0x123456789abcdefULL;
    sluice_store* noise = NULL;
    memcpy(&noise, &number, sizeof noise);
    OK(sluice_report_create(&report));
    REFUSED(sluice_store_finish((sluice_store*)(void*)report), "store is the handle of a report");
    REFUSED(sluice_store_finish((sluice_store*)(void*)context), "store is the handle of a context");
    REFUSED(sluice_store_finish(garbage), "store is no handle of Sluice");
    REFUSED(sluice_store_finish(noise), "store is no handle of Sluice");
    REFUSED(sluice_store_finish(NULL), "store is NULL");
    OK(sluice_report_free(&report));
    OK(sluice_report_free(&report));
}

static int code_in_handler;
static void remember(MPI_Comm* comm, int* code, ...) {
    (void)comm;
    code_in_handler = *code;
}

static void madre_objects(void) {
    double data[2] = {1, 2};
    char strategy[] = "token";
    MADRE_Object object = MADRE_create(data, strategy, 2, 1, MPI_DOUBLE, MPI_COMM_WORLD), old = object;
    MPI_Errhandler handler;
    EXPECT(object != MADRE_OBJECT_NULL);
    MADRE_destroy(object);
    MPI_Comm_create_errhandler(remember, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    code_in_handler = 0;
    MADRE_redistribute(old, 0, NULL, NULL);
    EXPECT(code_in_handler == MPI_ERR_ARG && strstr(sluice_last_error(), "freed before") != NULL);
    MADRE_setDataPointer(old, data);
    MADRE_destroy(old);
    EXPECT(strstr(sluice_last_error(), "freed before") != NULL);
    EXPECT(MADRE_create(data, strategy, 2, 1, MPI_DOUBLE, MPI_COMM_NULL) == MADRE_OBJECT_NULL);
    EXPECT(strstr(sluice_last_error(), "MPI_COMM_NULL") != NULL);
    EXPECT(MADRE_create(data, strategy, 2, 1, MPI_DATATYPE_NULL, MPI_COMM_WORLD) == MADRE_OBJECT_NULL);
    EXPECT(strstr(sluice_last_error(), "MPI_DATATYPE_NULL") != NULL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&handler);
}

static void null_arguments(sluice_context* context) {
    sluice_context* other = NULL;
    int64_t counts[64] = {0}, places[64] = {0};
    MPI_Datatype types[64];
    int i;
    for (i = 0; i < 64; ++i) {
        types[i] = MPI_DATATYPE_NULL;
        counts[i] = 1;
    }
    REFUSED(sluice_context_create(MPI_COMM_NULL, NULL, &other), "MPI_COMM_NULL");
    EXPECT(other == NULL);
    REFUSED(sluice_alltoall_in_place(context, counts, 1, MPI_DATATYPE_NULL, NULL), "MPI_DATATYPE_NULL");
    REFUSED(sluice_alltoallv_in_place(context, counts, counts, places, MPI_DATATYPE_NULL, NULL), "MPI_DATATYPE_NULL");
    REFUSED(sluice_alltoallw_in_place(context, counts, counts, places, types, NULL), "MPI_DATATYPE_NULL");
    REFUSED(sluice_alltoall_in_place(context, NULL, 1, MPI_INT64_T, NULL), "the buffer is NULL");
}

int main(int argc, char** argv) {
    sluice_context *context = NULL, *early = NULL, *late = NULL, *copy;
    sluice_store* store = NULL;
    sluice_plan* plan = NULL;
    int here[1] = {0};
    int64_t places[1] = {0};
    double data[1] = {1};
    sluice_blocks const arrays = {data, 1, sizeof(double)};
    int all_faults = 0;

    REFUSED(sluice_context_create(MPI_COMM_WORLD, NULL, &early), "before MPI_Init");
    EXPECT(early == NULL);
    context = begin(&argc, &argv);
    here[0] = rank;
    freed_handles(context);
    reused_handles();
    handles_of_other_kinds(context);
    madre_objects();
    null_arguments(context);

    OK(sluice_context_create(MPI_COMM_WORLD, NULL, &late));
    OK(sluice_store_create(late, &store));
    OK(sluice_plan_create(late, 1, 1, here, places, NULL, &plan));
    copy = late;
    OK(sluice_context_free(&context));
    MPI_Allreduce(&faults, &all_faults, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();

    REFUSED(sluice_context_create(MPI_COMM_WORLD, NULL, &early), "after MPI_Finalize");
    REFUSED(sluice_redistribute(late, data, 1, 8, 1, here, places, NULL, NULL), "after MPI_Finalize");
    REFUSED(sluice_plan_apply(plan, 1, &arrays, NULL), "after MPI_Finalize");
    REFUSED(sluice_store_finish(store), "after MPI_Finalize");
    OK(sluice_store_free(&store)); /* its one line stands on standard error */
    OK(sluice_plan_free(&plan));
    OK(sluice_context_free(&late));
    REFUSED(sluice_context_free(&copy), "freed before");
    return all_faults + faults != 0;
}
