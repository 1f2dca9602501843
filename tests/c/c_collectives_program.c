/* SPDX-License-Identifier: BSD-3-Clause */
/* A program in C that exchanges blocks in place, in all three forms, and checks each word of them. The exit code is 1
 * if anything is wrong. Argument without-gaps: only with datatypes that have no gaps. */
#include "c_check.h"

enum { COUNT = 5000, GUARD = 77 };

static int word(int from, int to, int i) {
    return from * 1000000 + to * 10000 + i;
}

/* Makes the blocks of this rank, of which rank j receives block j. */
static int* make_blocks(int blocks, int count) {
    int* const words = malloc(((size_t)blocks * (size_t)count + 1) * sizeof *words);
    int block, i;
    if (words == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
    for (block = 0; block < blocks; ++block)
        for (i = 0; i < count; ++i)
            words[block * count + i] = word(rank, block, i);
    words[blocks * count] = GUARD;
    return words;
}

static int wrong_words(int const* words, int blocks, int count) {
    int wrong = 0, block, i;
    for (block = 0; block < blocks; ++block)
        for (i = 0; i < count; ++i)
            wrong += words[block * count + i] != word(block, rank, i);
    return wrong + (words[blocks * count] != GUARD);
}

static void equal_blocks(sluice_context* context) {
    int* const words = make_blocks(size, COUNT);
    sluice_report* report = NULL;
    uint64_t const moved = (uint64_t)(size - 1) * COUNT * sizeof(int);
    OK(sluice_report_create(&report));
    OK(sluice_alltoall_in_place(context, words, COUNT, MPI_INT, report));
    EXPECT(wrong_words(words, size, COUNT) == 0);
    EXPECT(figure(report, "exchanged") == moved);
    EXPECT(figure(report, "pairs_swapped") + figure(report, "pairs_staged") + figure(report, "pairs_small") ==
           (uint64_t)size - 1);
    EXPECT(figure(report, "pairs_lost") == 0);
    if (size > 1) EXPECT(figure(report, "staging") > 0);
    EXPECT(strstr(sluice_report_text(report), "pairs_swapped") != NULL);
    OK(sluice_alltoall_in_place(context, words, COUNT, MPI_INT, NULL)); /* and back */
    {
        int* const again = make_blocks(size, COUNT);
        EXPECT(memcmp(words, again, ((size_t)size * COUNT + 1) * sizeof *words) == 0);
        free(again);
    }
    OK(sluice_report_free(&report));
    free(words);
}

/* Both blocks of a pair of ranks have this size; pairs differ, and some blocks are empty. */
static int64_t count_for(int a, int b) {
    return 100 * ((a + b) % 4) + a * b;
}

static void blocks_of_many_sizes(sluice_context* context) {
    int64_t* const counts = malloc((size_t)size * sizeof *counts);
    int64_t* const places = malloc((size_t)size * sizeof *places);
    int64_t total = 0, i;
    int peer, form;
    MPI_Datatype* const types = malloc((size_t)size * sizeof *types);
    int* words;
    for (peer = 0; peer < size; ++peer) {
        counts[peer] = count_for(rank, peer);
        places[peer] = total;
        total += counts[peer];
        types[peer] = MPI_INT;
    }
    words = malloc(((size_t)total + 1) * sizeof *words);
    for (form = 0; form < 2; ++form) {
        for (peer = 0; peer < size; ++peer)
            for (i = 0; i < counts[peer]; ++i)
                words[places[peer] + i] = word(rank, peer, (int)i);
        words[total] = GUARD;
        if (form == 0) {
            OK(sluice_alltoallv_in_place(context, words, counts, places, MPI_INT, NULL));
        } else {
            int64_t* const bytes = malloc((size_t)size * sizeof *bytes);
            for (peer = 0; peer < size; ++peer)
                bytes[peer] = places[peer] * (int64_t)sizeof(int);
            OK(sluice_alltoallw_in_place(context, words, counts, bytes, types, NULL));
            free(bytes);
        }
        for (peer = 0; peer < size; ++peer)
            for (i = 0; i < counts[peer]; ++i)
                EXPECT(words[places[peer] + i] == word(peer, rank, (int)i));
        EXPECT(words[total] == GUARD);
    }
    free(counts);
    free(places);
    free(types);
    free(words);
}

/* Each second int takes no part in the exchange. */
static void blocks_with_gaps(sluice_context* context) {
    MPI_Datatype every_second, spread;
    int* const words = make_blocks(size, 2);
    int block;
    MPI_Type_vector(1, 1, 1, MPI_INT, &every_second);
    MPI_Type_create_resized(every_second, 0, 2 * (MPI_Aint)sizeof(int), &spread);
    MPI_Type_commit(&spread);
    OK(sluice_alltoall_in_place(context, words, 1, spread, NULL));
    for (block = 0; block < size; ++block) {
        EXPECT(words[2 * block] == word(block, rank, 0));
        EXPECT(words[2 * block + 1] == word(rank, block, 1)); /* as it was */
    }
    MPI_Type_free(&every_second);
    MPI_Type_free(&spread);
    free(words);
}

static void misuse(sluice_context* context) {
    int words[64];
    int64_t numbers[64];
    int before[64], i;
    for (i = 0; i < 64; ++i) {
        words[i] = before[i] = i;
        numbers[i] = 1;
    }
    REFUSED(sluice_alltoall_in_place(NULL, words, 1, MPI_INT, NULL), "context is NULL");
    REFUSED(sluice_alltoall_in_place(context, words, -1, MPI_INT, NULL), "-1");
    REFUSED(sluice_alltoallv_in_place(context, words, NULL, numbers, MPI_INT, NULL), "counts is NULL");
    REFUSED(sluice_alltoallv_in_place(context, words, numbers, NULL, MPI_INT, NULL), "displacements is NULL");
    REFUSED(sluice_alltoallw_in_place(context, words, numbers, numbers, NULL, NULL), "types is NULL");
    EXPECT(memcmp(words, before, sizeof words) == 0);
    /* Both ranks of a pair are told that their blocks differ; the others exchange theirs. */
    if (size > 1) {
        int code;
        for (i = 0; i < size; ++i)
            numbers[i] = 4 * i;
        {
            int64_t counts[64];
            for (i = 0; i < size; ++i)
                counts[i] = 1;
            if (rank == 0) counts[1] = 2;
            code = sluice_alltoallv_in_place(context, words, counts, numbers, MPI_INT, NULL);
        }
        if (rank < 2)
            EXPECT(code == SLUICE_INVALID_ARGUMENT && strstr(sluice_last_error(), "bytes") != NULL);
        else
            EXPECT(code == SLUICE_SUCCESS);
    }
}

int main(int argc, char** argv) {
    sluice_context* const context = begin(&argc, &argv);
    equal_blocks(context);
    blocks_of_many_sizes(context);
    if (argc < 2 || strcmp(argv[1], "without-gaps") != 0) blocks_with_gaps(context);
    misuse(context);
    return end(context);
}
