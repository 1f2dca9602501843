/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays that the ranks of a node share, in C: made, redistributed, freed after the context and after MPI_Finalize. The
 * exit code is 1 if anything is wrong. */
#include "c_check.h"

enum { BLOCKS = 100 };

static void check_errors(sluice_context* context) {
    sluice_array* empty = NULL;
    sluice_array* none = NULL;
    OK(sluice_array_create(context, 0, &empty));
    EXPECT(sluice_array_data(empty) == NULL);
    OK(sluice_array_free(&empty));
    EXPECT(empty == NULL);
    REFUSED(sluice_array_create(context, BLOCKS, NULL), "array is NULL");
    REFUSED(sluice_array_create(NULL, BLOCKS, &none), "context");
    EXPECT(sluice_array_create(context, UINT64_MAX / 2, &none) == SLUICE_OUT_OF_MEMORY);
    EXPECT(strstr(sluice_last_error(), "sluice::allocate") != NULL);
    EXPECT(none == NULL && sluice_array_data(none) == NULL && sluice_array_is_shared(none) == 0);
    OK(sluice_array_free(&none));
    REFUSED(sluice_array_free(NULL), "NULL");
}

static void move_to_next_rank(sluice_context* context, uint64_t* blocks) {
    int ranks[BLOCKS];
    int64_t indices[BLOCKS];
    int i;
    for (i = 0; i < BLOCKS; ++i) {
        EXPECT(blocks[i] == 0);
        blocks[i] = (uint64_t)(rank * BLOCKS + i);
        ranks[i] = (rank + 1) % size;
        indices[i] = BLOCKS - 1 - i;
    }
    OK(sluice_redistribute(context, blocks, BLOCKS, sizeof(uint64_t), BLOCKS, ranks, indices, NULL, NULL));
    for (i = 0; i < BLOCKS; ++i)
        EXPECT(blocks[i] == (uint64_t)((rank + size - 1) % size * BLOCKS + BLOCKS - 1 - i));
}

int main(int argc, char** argv) {
    sluice_context* const context = begin(&argc, &argv);
    sluice_array* array = NULL;
    int code;
    check_errors(context);
    OK(sluice_array_create(context, BLOCKS * sizeof(uint64_t), &array));
    EXPECT(sluice_array_is_shared(array) == 1);
    move_to_next_rank(context, sluice_array_data(array));
    code = end(context);
    faults = 0;
    ((uint64_t*)sluice_array_data(array))[0] = 1;
    OK(sluice_array_free(&array));
    EXPECT(array == NULL);
    return code != 0 || faults != 0;
}
