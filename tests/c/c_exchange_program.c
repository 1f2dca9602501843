/* SPDX-License-Identifier: BSD-3-Clause */
/* A program in C that sends a part to each rank, from memory or produced, and checks each word. The exit code is 1 if
 * anything is wrong. */
#include "c_check.h"

enum { WORDS = 1000 };

static int word(int from, int to, int i) {
    return from * 1000000 + to * 10000 + i;
}

static void write_words(int* words, int to) {
    int i;
    for (i = 0; i < WORDS; ++i)
        words[i] = word(rank, to, i);
}

static int taken;

static void take(void* user, int from, void const* data, uint64_t bytes) {
    int const* const words = data;
    int i;
    EXPECT(user == &taken);
    EXPECT(bytes == WORDS * sizeof(int));
    for (i = 0; i < WORDS; ++i)
        if (words[i] != word(from, rank, i)) break;
    EXPECT(i == WORDS);
    ++taken;
}

static int produce(void* user, size_t part, void* out, uint64_t bytes) {
    EXPECT(user == &taken);
    EXPECT(bytes == WORDS * sizeof(int));
    write_words(out, (int)part);
    return 0;
}

static int refuse(void* user, size_t part, void* out, uint64_t bytes) {
    (void)user, (void)part, (void)out, (void)bytes;
    return 7;
}

static void use_plans(sluice_context* context, size_t count, sluice_outgoing_part* parts, sluice_report* report) {
    sluice_exchange_plan* plan = NULL;
    int form, call;
    for (form = 0; form < 2; ++form) {
        if (form == 0) OK(sluice_exchange_plan_create(context, &plan));
        if (form == 1) OK(sluice_exchange_plan_create_for(context, count, parts, &plan));
        for (call = 0; call < 3; ++call) {
            taken = 0;
            OK(sluice_exchange_plan_apply(plan, count, parts, produce, take, &taken, report));
            EXPECT(taken == size);
            EXPECT(figure(report, "parts_received") == (uint64_t)size - 1);
            REFUSED(sluice_exchange_plan_apply(plan, count, parts, produce, NULL, &taken, NULL), "take is NULL");
            REFUSED(sluice_exchange_plan_apply(plan, 1, NULL, produce, take, &taken, NULL), "outgoing");
            if (size > 1)
                REFUSED(sluice_exchange_plan_apply(plan, count, parts, refuse, take, &taken, NULL), "returned 7");
        }
        if (form == 1)
            REFUSED(sluice_exchange_plan_apply(plan, 0, NULL, produce, take, &taken, NULL), "other receivers or sizes");
        OK(sluice_exchange_plan_free(&plan));
        EXPECT(plan == NULL);
    }
    REFUSED(sluice_exchange_plan_create(context, NULL), "plan is NULL");
    REFUSED(sluice_exchange_plan_create_for(context, 1, NULL, &plan), "outgoing is NULL");
    REFUSED(sluice_exchange_plan_apply(NULL, 0, NULL, NULL, take, NULL, NULL), "plan is NULL");
}

int main(int argc, char** argv) {
    static int first[WORDS];
    sluice_outgoing_part* parts;
    sluice_report* report = NULL;
    int to;
    sluice_context* context = begin(&argc, &argv);
    OK(sluice_report_create(&report));
    parts = calloc((size_t)size, sizeof *parts);
    if (parts == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
    write_words(first, 0);
    for (to = 0; to < size; ++to) {
        parts[to].rank = to;
        parts[to].bytes = sizeof first;
        parts[to].data = to == 0 ? first : NULL;
    }
    OK(sluice_exchange(context, (size_t)size, parts, produce, take, &taken, report));
    EXPECT(taken == size);
    EXPECT(figure(report, "parts_received") == (uint64_t)size - 1);
    EXPECT(figure(report, "received") == ((uint64_t)size - 1) * sizeof first);
    EXPECT(figure(report, "kept") == sizeof first);
    OK(sluice_exchange(context, 0, NULL, NULL, take, &taken, NULL));
    EXPECT(taken == size);
    REFUSED(sluice_exchange(context, (size_t)size, parts, produce, NULL, &taken, NULL), "take is NULL");
    REFUSED(sluice_exchange(context, 1, NULL, produce, take, &taken, NULL), "outgoing");
    if (size > 1) {
        REFUSED(sluice_exchange(context, (size_t)size, parts, NULL, take, &taken, NULL), "produce is NULL");
        REFUSED(sluice_exchange(context, (size_t)size, parts, refuse, take, &taken, NULL), "produce returned 7");
    }
    use_plans(context, (size_t)size, parts, report);
    free(parts);
    OK(sluice_report_free(&report));
    return end(context);
}
