/* SPDX-License-Identifier: BSD-3-Clause */
/* A program in C that exchanges blocks from one buffer into another, equal ones and others, once and by plans, and
 * checks each number. The exit code is 1 if anything is wrong. */
#include <stdlib.h>
#include <string.h>

#include "c_check.h"

enum { COUNT = 37, MOST = 16 };

static long number(int from, int to, int64_t i) {
    return from * 1000000L + to * 1000L + (long)i;
}

/* Block sizes that differ between pairs and directions. */
static int64_t count_of(int from, int to) {
    return (from + 2 * to) % 3 == 0 ? 0 : 10 + from + 3 * to;
}

static void fill_equal(long* from) {
    int to, i;
    for (to = 0; to < size; ++to)
        for (i = 0; i < COUNT; ++i)
            from[to * COUNT + i] = number(rank, to, i);
}

static int wrong_equal(long* to) {
    int from, i, wrong = 0;
    for (from = 0; from < size; ++from)
        for (i = 0; i < COUNT; ++i)
            wrong += to[from * COUNT + i] != number(from, rank, i);
    memset(to, 0, sizeof(long) * (size_t)(size * COUNT));
    return wrong;
}

static int wrong_lists(long* to, int64_t const* counts, int64_t const* places) {
    int from, wrong = 0;
    int64_t i;
    for (from = 0; from < size; ++from)
        for (i = 0; i < counts[from]; ++i)
            wrong += to[places[from] + i] != number(from, rank, i);
    memset(to, 0, sizeof(long) * MOST * 128);
    return wrong;
}

int main(int argc, char** argv) {
    static char const* const algorithms[] = {"auto", "plain", "log_step", "window", "pull"};
    static long from[MOST * 128], to[MOST * 128];
    int64_t out[MOST], out_places[MOST], in[MOST], in_places[MOST], out_end = 0, in_end = 0, i;
    sluice_alltoall_blocks leaving, coming;
    sluice_alltoall_plan* plan = NULL;
    sluice_report* report = NULL;
    sluice_options* options = NULL;
    sluice_context* context = begin(&argc, &argv);
    size_t a;
    int peer;
    OK(sluice_report_create(&report));
    OK(sluice_options_create(&options));
    for (a = 0; a < sizeof algorithms / sizeof *algorithms; ++a) {
        OK(sluice_options_set(options, "alltoall", algorithms[a]));
        OK(sluice_options_set(options, "alltoall_window", "64KiB"));
        fill_equal(from);
        OK(sluice_alltoall(context, from, COUNT, MPI_LONG, to, COUNT, MPI_LONG, options, report));
        EXPECT(wrong_equal(to) == 0);
        EXPECT(figure(report, "sent") == (uint64_t)(size - 1) * COUNT * sizeof(long));
        OK(sluice_alltoall_plan_create(context, COUNT, MPI_LONG, COUNT, MPI_LONG, options, &plan));
        OK(sluice_alltoall_plan_apply(plan, from, to, NULL));
        EXPECT(wrong_equal(to) == 0);
        OK(sluice_alltoall_plan_free(&plan));
        EXPECT(plan == NULL);
    }
    for (peer = 0; peer < size; ++peer) {
        out[peer] = count_of(rank, peer);
        out_places[peer] = out_end;
        out_end += out[peer] + 1;
        in[peer] = count_of(peer, rank);
        in_places[peer] = in_end;
        in_end += in[peer] + 2;
        for (i = 0; i < out[peer]; ++i)
            from[out_places[peer] + i] = number(rank, peer, i);
    }
    leaving.counts = out;
    leaving.displacements = out_places;
    leaving.type = MPI_LONG;
    coming.counts = in;
    coming.displacements = in_places;
    coming.type = MPI_LONG;
    OK(sluice_alltoallv(context, from, &leaving, to, &coming, NULL, report));
    EXPECT(wrong_lists(to, in, in_places) == 0);
    OK(sluice_alltoallv_plan_create(context, &leaving, &coming, NULL, &plan));
    OK(sluice_alltoall_plan_apply(plan, from, to, report));
    EXPECT(wrong_lists(to, in, in_places) == 0);
    REFUSED(sluice_alltoall_plan_apply(plan, from, to, (sluice_report*)options), "report");
    OK(sluice_alltoall_plan_free(&plan));
    REFUSED(sluice_alltoall(context, from, -1, MPI_LONG, to, COUNT, MPI_LONG, NULL, NULL), "is -1");
    REFUSED(sluice_alltoallv(context, from, NULL, to, &coming, NULL, NULL), "leaving is NULL");
    leaving.counts = NULL;
    REFUSED(sluice_alltoallv(context, from, &leaving, to, &coming, NULL, NULL), "counts is NULL");
    REFUSED(sluice_alltoallv_plan_create(context, &leaving, &coming, NULL, &plan), "counts is NULL");
    OK(sluice_options_set(options, "staging", "1MiB"));
    REFUSED(sluice_alltoall(context, from, COUNT, MPI_LONG, to, COUNT, MPI_LONG, options, NULL), "staging");
    OK(sluice_options_free(&options));
    OK(sluice_report_free(&report));
    return end(context);
}
