/* SPDX-License-Identifier: BSD-3-Clause */
/* A program in C that leases memory, and reads settings and reports. The exit code is 1 if anything is wrong. */
#include "c_check.h"

enum { MIB = 1 << 20 };

typedef struct Waiting {
    uint64_t calls;
    uint64_t bytes;
} Waiting;

static void take(void* user, sluice_lease* lease) {
    Waiting* const waiting = user;
    ++waiting->calls;
    waiting->bytes = sluice_lease_bytes(lease);
    OK(sluice_lease_free(&lease));
    EXPECT(lease == NULL);
}

static void own_budget(void) {
    sluice_budget* budget = NULL;
    sluice_lease *first = NULL, *part = NULL, *none = NULL, *beyond = NULL;
    sluice_report* report = NULL;
    Waiting waiting;
    memset(&waiting, 0, sizeof waiting);
    OK(sluice_report_create(&report));
    OK(sluice_budget_create(10 * MIB, &budget));
    OK(sluice_budget_try_lease(budget, 8 * MIB, SLUICE_PURPOSE_OTHER, &first));
    EXPECT(first != NULL && sluice_lease_bytes(first) == 8 * MIB);
    none = first;
    OK(sluice_budget_try_lease(budget, 3 * MIB, SLUICE_PURPOSE_OTHER, &none)); /* does not fit, and that is no error */
    EXPECT(none == NULL);
    OK(sluice_budget_when_free(budget, 3 * MIB, SLUICE_PURPOSE_STAGING, take, &waiting));
    EXPECT(waiting.calls == 0);
    EXPECT(sluice_budget_when_free(budget, 11 * MIB, SLUICE_PURPOSE_OTHER, take, &waiting) == SLUICE_OUT_OF_MEMORY);
    OK(sluice_lease_split(first, 2 * MIB, &part));
    EXPECT(sluice_lease_bytes(first) == 6 * MIB && sluice_lease_bytes(part) == 2 * MIB);
    OK(sluice_budget_report(budget, report));
    EXPECT(figure(report, "limit") == 10 * MIB && figure(report, "held") == 8 * MIB);
    EXPECT(figure(report, "held.other") == 8 * MIB && figure(report, "held.staging") == 0);
    OK(sluice_lease_free(&part)); /* 4 MiB are free now */
    EXPECT(waiting.calls == 1 && waiting.bytes == 3 * MIB);
    OK(sluice_budget_lease_beyond(budget, 20 * MIB, SLUICE_PURPOSE_FETCHED, &beyond));
    OK(sluice_budget_report(budget, report));
    EXPECT(figure(report, "held") == 26 * MIB && figure(report, "peak") == 26 * MIB);
    EXPECT(figure(report, "held.fetched") == 20 * MIB);
    OK(sluice_budget_add_resident(budget, 5 * MIB));
    OK(sluice_budget_remove_resident(budget, 4 * MIB));
    OK(sluice_lease_free(&beyond));
    OK(sluice_budget_reset_peak(budget));
    OK(sluice_budget_set_limit(budget, 7 * MIB));
    OK(sluice_budget_report(budget, report));
    EXPECT(figure(report, "limit") == 7 * MIB && figure(report, "peak") == 6 * MIB);
    EXPECT(figure(report, "resident") == MIB);
    OK(sluice_budget_free(&budget));
    EXPECT(budget == NULL);
    OK(sluice_lease_free(&first)); /* outlives the handle of its budget */
    OK(sluice_report_free(&report));
}

static void budget_of_the_process(sluice_context* context) {
    sluice_budget *budget = NULL, *same = NULL;
    sluice_lease* lease = NULL;
    sluice_report* report = NULL;
    uint64_t held;
    OK(sluice_report_create(&report));
    OK(sluice_context_budget(context, &budget));
    OK(sluice_context_budget(context, &same));
    OK(sluice_budget_report(same, report));
    held = figure(report, "held.other");
    EXPECT(figure(report, "limit") > 0);
    OK(sluice_budget_try_lease(budget, 64 * 1024, SLUICE_PURPOSE_OTHER, &lease));
    EXPECT(lease != NULL);
    OK(sluice_budget_report(same, report)); /* two handles are one budget */
    EXPECT(figure(report, "held.other") == held + 64 * 1024);
    OK(sluice_lease_free(&lease));
    OK(sluice_budget_free(&budget));
    OK(sluice_budget_free(&same));
    OK(sluice_report_free(&report));
}

static void limits_of_memory(void) {
    sluice_report* report = NULL;
    char const* source = NULL;
    uint64_t value = 7;
    OK(sluice_report_create(&report));
    EXPECT(sluice_report_size(report) == 0 && strcmp(sluice_report_text(report), "") == 0);
    OK(sluice_detect_memory_limit(1 * MIB, report));
    EXPECT(figure(report, "limit") == MIB && figure(report, "used") > 0);
    OK(sluice_report_get_text(report, "source", &source));
    EXPECT(source != NULL && strcmp(source, "setting") == 0);
    OK(sluice_detect_memory_limit(0, report));
    EXPECT(figure(report, "limit") > MIB);
    /* A figure that this library lacks, and figures read in the wrong way, are errors that change nothing. */
    REFUSED(sluice_report_get(report, "of_a_later_version", &value), "no figure 'of_a_later_version'");
    REFUSED(sluice_report_get(report, "source", &value), "sluice_report_get_text");
    REFUSED(sluice_report_get(report, NULL, &value), "name is NULL");
    REFUSED(sluice_report_get(report, "limit", NULL), "value is NULL");
    REFUSED(sluice_report_get(NULL, "limit", &value), "report is NULL");
    REFUSED(sluice_report_get_text(report, "limit", &source), "figure 'limit' is read by sluice_report_get");
    EXPECT(value == 7 && source != NULL);
    EXPECT(sluice_report_unit(report, 0) == SLUICE_UNIT_BYTES && strcmp(sluice_report_name(report, 0), "limit") == 0);
    EXPECT(sluice_report_unit(report, 3) == SLUICE_UNIT_NONE && sluice_report_name(report, 3) == NULL);
    OK(sluice_report_free(&report));
    OK(sluice_report_free(&report)); /* nothing to free */
    REFUSED(sluice_report_free(NULL), "is NULL");
}

static void settings(sluice_context* context) {
    sluice_report *row = NULL, *all = NULL;
    sluice_options* options = NULL;
    sluice_context* other = NULL;
    char const* text = NULL;
    size_t const rows = sluice_setting_rows();
    size_t i;
    OK(sluice_report_create(&row));
    OK(sluice_report_create(&all));
    EXPECT(sluice_context_rank(context) == rank && sluice_context_size(context) == size);
    EXPECT(sluice_context_rank(NULL) == -1 && sluice_context_size(NULL) == 0);
    OK(sluice_options_create(&options));
    OK(sluice_options_set(options, "staging", "3MiB"));
    OK(sluice_context_create(MPI_COMM_WORLD, options, &other));
    OK(sluice_context_settings(other, all));
    OK(sluice_report_get_text(all, "staging", &text));
    EXPECT(strcmp(text, "3MiB") == 0);
    EXPECT(sluice_report_size(all) == rows && rows > 20);
    for (i = 0; i < rows; ++i) { /* what the table says is what a context has and what options accept */
        char const *name = NULL, *value = NULL;
        OK(sluice_setting_row(i, row));
        OK(sluice_report_get_text(row, "name", &name));
        EXPECT(strcmp(name, sluice_report_name(all, i)) == 0);
        OK(sluice_report_get_text(all, name, &value));
        if (value[0] != '\0') OK(sluice_options_set(options, name, value));
        EXPECT(figure(row, "least") <= figure(row, "most"));
    }
    REFUSED(sluice_setting_row(rows, row), "does not exist");
    REFUSED(sluice_setting_row(0, NULL), "row is NULL");
    REFUSED(sluice_context_settings(NULL, all), "context is NULL");
    OK(sluice_context_free(&other));
    OK(sluice_options_free(&options));
    OK(sluice_report_free(&row));
    OK(sluice_report_free(&all));
}

static void misuse(sluice_context* context) {
    sluice_budget* budget = NULL;
    sluice_lease* lease = NULL;
    Waiting waiting;
    memset(&waiting, 0, sizeof waiting);
    REFUSED(sluice_context_budget(NULL, &budget), "context is NULL");
    REFUSED(sluice_context_budget(context, NULL), "budget is NULL");
    REFUSED(sluice_budget_create(1, NULL), "budget is NULL");
    OK(sluice_budget_create(MIB, &budget));
    REFUSED(sluice_budget_try_lease(NULL, 1, SLUICE_PURPOSE_OTHER, &lease), "budget is NULL");
    REFUSED(sluice_budget_try_lease(budget, 1, SLUICE_PURPOSE_OTHER, NULL), "lease is NULL");
    REFUSED(sluice_budget_try_lease(budget, 1, SLUICE_PURPOSE_REGISTERED + 1, &lease), "8 is no purpose");
    REFUSED(sluice_budget_lease_beyond(budget, 1, -1, &lease), "-1 is no purpose");
    REFUSED(sluice_budget_when_free(budget, 1, SLUICE_PURPOSE_OTHER, NULL, NULL), "the lease function is NULL");
    REFUSED(sluice_budget_when_free(budget, 1, 99, take, &waiting), "99 is no purpose");
    REFUSED(sluice_budget_report(budget, NULL), "report is NULL");
    REFUSED(sluice_budget_set_limit(NULL, 1), "budget is NULL");
    REFUSED(sluice_lease_split(NULL, 1, &lease), "lease is NULL");
    REFUSED(sluice_lease_free(NULL), "is NULL");
    REFUSED(sluice_detect_memory_limit(0, NULL), "report is NULL");
    EXPECT(lease == NULL && waiting.calls == 0 && sluice_lease_bytes(NULL) == 0);
    OK(sluice_budget_free(&budget));
    EXPECT(strcmp(sluice_error_name(SLUICE_OUT_OF_MEMORY), "SLUICE_OUT_OF_MEMORY") == 0);
    EXPECT(strcmp(sluice_error_name(SLUICE_SUCCESS), "SLUICE_SUCCESS") == 0);
    EXPECT(strcmp(sluice_error_name(4711), "unknown code") == 0);
}

int main(int argc, char** argv) {
    sluice_context* const context = begin(&argc, &argv);
    own_budget();
    budget_of_the_process(context);
    limits_of_memory();
    settings(context);
    misuse(context);
    return end(context);
}
