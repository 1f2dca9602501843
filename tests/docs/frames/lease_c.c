/* SPDX-License-Identifier: BSD-3-Clause */
//= block docs/c.md: sluice_budget_try_lease(budget, bytes, SLUICE_PURPOSE_OTHER, &lease);
/* The bytes are more than the memory of the process, or they fit. */
#include <mpi.h>
#include <sluice/sluice.h>
#include <stdint.h>

static int took_less;
static void wait_or_take_less(void) {
    ++took_less;
}

static int use(char const* memory, uint64_t bytes, int wanted) {
    sluice_options* options = NULL;
    sluice_context* context = NULL;
    int faults = sluice_options_create(&options) != SLUICE_SUCCESS;
    faults += sluice_options_set(options, "memory", memory) != SLUICE_SUCCESS;
    faults += sluice_context_create(MPI_COMM_WORLD, options, &context) != SLUICE_SUCCESS;
    took_less = 0;
    //= paragraphs 1
    faults += took_less != wanted || budget != NULL || lease != NULL;
    faults += sluice_context_free(&context) != SLUICE_SUCCESS;
    faults += sluice_options_free(&options) != SLUICE_SUCCESS;
    return faults;
}

int lease_c(void) {
    // Tests that run at the same time with the same limit share its ledger, so the limit is much more than this one
    // needs.
    return use("16GiB", 1 << 20, 0) + use("16GiB", (uint64_t)1 << 35, 1);
}
