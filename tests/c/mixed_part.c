/* SPDX-License-Identifier: BSD-3-Clause */
#include "mixed_part.h"

typedef struct Ring {
    int next;
    uint64_t count;
} Ring;

static void next_rank_in_reverse(void* user, uint64_t index, void const* block, int* rank, int64_t* destination) {
    Ring const* const ring = user;
    (void)block;
    *rank = ring->next;
    *destination = (int64_t)(ring->count - 1 - index);
}

int pass_on_in_c(sluice_context* context, double* numbers, uint64_t count, sluice_report* report) {
    Ring ring;
    ring.next = (sluice_context_rank(context) + 1) % sluice_context_size(context);
    ring.count = count;
    return sluice_redistribute_computed(context, numbers, count, sizeof *numbers, next_rank_in_reverse, &ring, NULL,
                                        report);
}

void call_from_c(void (*step)(void* user), void* user) {
    step(user);
}
