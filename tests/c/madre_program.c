/* SPDX-License-Identifier: BSD-3-Clause */
/* A program as its author would have written it for MADRE, with only the five functions of Figure 1: particles of
 * three doubles and a key live on the ranks with different amounts of free space; they are sent away in several maps,
 * with the arrays moved to another place between two of them. Every block is checked. argv[1]: the strategy. */
#include <madre.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS = 4 }; /* doubles in a block: the first is the number of the block in the whole array */

typedef struct {
    int ranks, rank;
    int slots;  /* slots of this rank */
    int* first; /* the number of each rank's first slot in the whole array; first[ranks] is the number of all slots */
    int total;
} Shape;

/* All ranks have the same number of live blocks, which is their slots minus their free space, and compute the shapes
 * of the others by rule. */
static Shape shape_of(int ranks, int rank) {
    Shape s;
    int r;
    s.ranks = ranks;
    s.rank = rank;
    s.first = malloc((size_t)(ranks + 1) * sizeof(int));
    s.first[0] = 0;
    for (r = 0; r < ranks; ++r)
        s.first[r + 1] = s.first[r] + 60 + 7 * r;
    s.slots = s.first[rank + 1] - s.first[rank];
    s.total = s.first[ranks];
    return s;
}

/* Slot g of the whole array goes to slot (a g + b) mod total: a permutation if a and total have no common divisor. */
static int divisor(int a, int b) {
    return b == 0 ? a : divisor(b, a % b);
}

static int step_of(int wanted, int total) {
    while (divisor(wanted, total) != 1)
        ++wanted;
    return wanted;
}

static int rank_of(Shape const* s, int slot) {
    int r = 0;
    while (slot >= s->first[r + 1])
        ++r;
    return r;
}

static void fill_block(double* block, int number) {
    int i;
    block[0] = number;
    for (i = 1; i < FIELDS; ++i)
        block[i] = number * 1000.0 + i;
}

/* A slot is live if its number is not divisible by `every` (0: all are live). Returns how many blocks are wrong. */
static int run_map(MADRE_Object madre, Shape const* s, double* data, int factor, int shift, int every) {
    int const mine = s->first[s->rank];
    int* ranks = malloc((size_t)s->slots * sizeof(int));
    int* indices = malloc((size_t)s->slots * sizeof(int));
    int i, k, g, wrong = 0;
    for (i = 0; i < s->slots; ++i) {
        int const to = (int)(((int64_t)factor * (mine + i) + shift) % s->total);
        int const live = every == 0 || (mine + i) % every != 0;
        fill_block(data + (size_t)i * FIELDS, live ? mine + i : -1);
        ranks[i] = live ? rank_of(s, to) : -1;
        indices[i] = live ? to - s->first[ranks[i]] : -12345; /* must be ignored */
    }
    MADRE_redistribute(madre, s->slots, ranks, indices);
    for (g = 0; g < s->total; ++g) {
        int const to = (int)(((int64_t)factor * g + shift) % s->total);
        double expected[FIELDS];
        if ((every != 0 && g % every == 0) || rank_of(s, to) != s->rank) continue;
        fill_block(expected, g);
        for (k = 0; k < FIELDS; ++k)
            if (data[(size_t)(to - mine) * FIELDS + (size_t)k] != expected[k]) break;
        wrong += k < FIELDS;
    }
    free(ranks);
    free(indices);
    return wrong;
}

/* Only the first half of each array is named, and the rest is dead. The named blocks go to the next rank, in reverse.
 */
static int run_short_list(MADRE_Object madre, Shape const* s, double* data) {
    int const length = 30; /* half of the smallest array */
    int const next = (s->rank + 1) % s->ranks, last = (s->rank + s->ranks - 1) % s->ranks;
    int ranks[30], indices[30], i, wrong = 0;
    for (i = 0; i < length; ++i) {
        fill_block(data + (size_t)i * FIELDS, s->first[s->rank] + i);
        ranks[i] = next;
        indices[i] = length - 1 - i;
    }
    MADRE_redistribute(madre, length, ranks, indices);
    for (i = 0; i < length; ++i)
        wrong += data[(size_t)(length - 1 - i) * FIELDS] != s->first[last] + i;
    return wrong;
}

int main(int argc, char** argv) {
    double *data, *elsewhere;
    size_t bytes;
    int ranks, rank, wrong = 0, all_wrong = 0, factor;
    long before, during;
    Shape s;
    MADRE_Object madre;

    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    s = shape_of(ranks, rank);
    bytes = (size_t)s.slots * FIELDS * sizeof(double);
    data = malloc(bytes);
    elsewhere = malloc(bytes);
    factor = step_of(s.total / 3 + 1, s.total);

    before = MADRE_getMem();
    madre = MADRE_create(data, argc > 1 ? argv[1] : "parking", s.slots, FIELDS, MPI_DOUBLE, MPI_COMM_WORLD);
    if (madre == NULL) {
        fprintf(stderr, "rank %d: MADRE_create failed\n", rank);
        wrong = 1;
    } else {
        wrong += run_map(madre, &s, data, factor, 5, 3);  /* a third is free */
        wrong += run_map(madre, &s, data, factor, 11, 0); /* nothing is free */
        wrong += run_map(madre, &s, data, 1, 0, 0);       /* everything stays */
        memcpy(elsewhere, data, bytes);
        MADRE_setDataPointer(madre, elsewhere);
        memset(data, 0, bytes);
        wrong += run_map(madre, &s, elsewhere, factor, 17, 7);
        wrong += run_short_list(madre, &s, elsewhere);
        during = MADRE_getMem();
        if (before != 0 || during <= 0) {
            fprintf(stderr, "rank %d: MADRE_getMem said %ld before and %ld with an object\n", rank, before, during);
            ++wrong;
        }
        MADRE_destroy(madre);
        if (MADRE_getMem() != 0) {
            fprintf(stderr, "rank %d: MADRE_getMem said %ld after the end of the object\n", rank, MADRE_getMem());
            ++wrong;
        }
    }
    MPI_Allreduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("%s, %d ranks: %d errors\n", argc > 1 ? argv[1] : "parking", ranks, all_wrong);
    free(data);
    free(elsewhere);
    free(s.first);
    MPI_Finalize();
    return all_wrong != 0;
}
