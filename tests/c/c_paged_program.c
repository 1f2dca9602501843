/* SPDX-License-Identifier: BSD-3-Clause */
/* A program in C whose data are larger than the memory that they may have: it changes blocks by waiting calls and by
 * callbacks, and publishes parts of them. The exit code is 1 if anything is wrong. */
#include "c_check.h"

enum { BLOCKS = 12, WORDS = 4096 };

static sluice_block_use use_of(uint64_t block, int access) {
    sluice_block_use use;
    use.block = block;
    use.access = access;
    return use;
}

static uint64_t word_of(int owner, uint64_t block, uint64_t i, uint64_t sweep) {
    return (uint64_t)owner * 100000007 + block * 100003 + i + 3 * sweep;
}

static void write_all(sluice_paged_file* file) {
    uint64_t block, i;
    for (block = 0; block < BLOCKS; ++block) {
        sluice_block_use const use = use_of(block, SLUICE_BLOCK_ACCESS_WRITE);
        sluice_paged_blocks* blocks = NULL;
        uint64_t* words;
        OK(sluice_paged_file_use_now(file, &use, 1, &blocks));
        EXPECT(sluice_paged_blocks_count(blocks) == 1);
        EXPECT(sluice_paged_blocks_bytes(blocks, 0) == WORDS * sizeof(uint64_t));
        EXPECT(sluice_paged_blocks_data(blocks, 1) == NULL && sluice_paged_blocks_bytes(blocks, 1) == 0);
        words = sluice_paged_blocks_data(blocks, 0);
        for (i = 0; words != NULL && i < WORDS; ++i)
            words[i] = word_of(rank, block, i, 0);
        OK(sluice_paged_blocks_free(&blocks));
        EXPECT(blocks == NULL);
    }
}

/* Goes through all blocks, each asked for by the callback of the one before. */
typedef struct Sweep {
    sluice_paged_file* file;
    uint64_t block;
    uint64_t sweeps; /* that are over */
    uint64_t wrong;
    uint64_t done; /* 1 after the last */
} Sweep;

static void next_block(Sweep* sweep);

static void change_block(void* user, int code, sluice_paged_blocks* blocks) {
    Sweep* const sweep = user;
    uint64_t* const words = sluice_paged_blocks_data(blocks, 0);
    uint64_t i;
    EXPECT(code == SLUICE_SUCCESS && words != NULL);
    for (i = 0; words != NULL && i < WORDS; ++i) {
        sweep->wrong += words[i] != word_of(rank, sweep->block, i, sweep->sweeps);
        words[i] += 3;
    }
    OK(sluice_paged_blocks_free(&blocks));
    if (++sweep->block == BLOCKS) {
        sweep->block = 0;
        ++sweep->sweeps;
    }
    if (sweep->sweeps < 3)
        next_block(sweep);
    else
        sweep->done = 1;
}

static void next_block(Sweep* sweep) {
    sluice_block_use const use = use_of(sweep->block, SLUICE_BLOCK_ACCESS_UPDATE);
    OK(sluice_paged_file_use(sweep->file, &use, 1, change_block, sweep));
}

static void plan_all(sluice_paged_file* file) {
    sluice_block_use order[BLOCKS];
    uint64_t block;
    for (block = 0; block < BLOCKS; ++block)
        order[block] = use_of(block, SLUICE_BLOCK_ACCESS_UPDATE);
    OK(sluice_paged_file_plan(file, order, BLOCKS, 1));
}

static void sweep_all(sluice_paged_file* file) {
    Sweep sweep;
    int moved = 0;
    memset(&sweep, 0, sizeof sweep);
    sweep.file = file;
    plan_all(file);
    next_block(&sweep);
    while (!sweep.done && faults == 0)
        OK(sluice_paged_file_progress(file, &moved));
    EXPECT(sweep.wrong == 0 && sweep.sweeps == 3);
}

/* Each rank fetches the middle of a block of the rank before. */
typedef struct Fetch {
    uint64_t done;
    int code;
    sluice_fetch_result* result;
} Fetch;

static void got(void* user, int code, sluice_fetch_result* result) {
    Fetch* const fetch = user;
    fetch->code = code;
    fetch->result = result;
    ++fetch->done;
}

static void publish_parts(sluice_context* context, sluice_paged_file* file) {
    enum { FIRST = 100, PART = 50 };
    sluice_store* store = NULL;
    int const before = (rank + size - 1) % size;
    sluice_fetch_request const request = request_of(before, 5, 0, PART * sizeof(uint64_t));
    Fetch fetch;
    uint64_t const* words;
    uint64_t i;
    memset(&fetch, 0, sizeof fetch);
    OK(sluice_store_create(context, &store));
    OK(sluice_publish_part(store, key_of(rank, 5, 0), file, 2, FIRST * sizeof(uint64_t), PART * sizeof(uint64_t), 1));
    REFUSED(sluice_publish_part(store, key_of(rank, 6, 0), file, BLOCKS, 0, 8, 1), "block");
    REFUSED(sluice_publish_part(store, key_of(rank, 6, 0), file, 0, WORDS * sizeof(uint64_t), 8, 1), "block 0");
    REFUSED(sluice_publish_part(store, key_of(rank, 6, 0), NULL, 0, 0, 8, 1), "file is NULL");
    REFUSED(sluice_publish_part(NULL, key_of(rank, 6, 0), file, 0, 0, 8, 1), "store is NULL");
    OK(sluice_store_fetch_all(store, &request, 1, got, &fetch));
    OK(sluice_store_wait_for(store, &fetch.done, 1));
    EXPECT(fetch.code == SLUICE_SUCCESS);
    words = sluice_fetch_result_data(fetch.result, 0);
    EXPECT(sluice_fetch_result_bytes(fetch.result, 0) == PART * sizeof(uint64_t));
    for (i = 0; words != NULL && i < PART; ++i)
        EXPECT(words[i] == word_of(before, 2, FIRST + i, 3));
    OK(sluice_fetch_result_free(&fetch.result));
    OK(sluice_store_free(&store));
}

static void look_at_report(sluice_paged_file* file) {
    sluice_report* report = NULL;
    OK(sluice_report_create(&report));
    OK(sluice_paged_file_report(file, report));
    EXPECT(figure(report, "sets") >= 4 * BLOCKS);
    EXPECT(figure(report, "written") >= BLOCKS && figure(report, "brought") >= BLOCKS); /* not all fit in memory */
    EXPECT(figure(report, "held") <= figure(report, "peak") && figure(report, "peak") >= WORDS * sizeof(uint64_t));
    EXPECT(figure(report, "peak") < BLOCKS * WORDS * sizeof(uint64_t));
    EXPECT(figure(report, "unplanned") >= BLOCKS && figure(report, "parts") == 1);
    EXPECT(figure(report, "on_disk") <= 1 && figure(report, "past_cache") <= 1);
    OK(sluice_report_free(&report));
}

static void told(void* user, int code, sluice_paged_blocks* blocks) {
    *(int*)user = code;
    EXPECT(blocks == NULL);
}

static void misuse(sluice_context* context) {
    uint64_t const sizes[3] = {10, 20, 30};
    uint64_t const no_size[2] = {10, 0};
    sluice_block_use use = use_of(1, SLUICE_BLOCK_ACCESS_UPDATE);
    sluice_block_use beyond = use_of(3, SLUICE_BLOCK_ACCESS_READ);
    sluice_paged_file* file = NULL;
    sluice_paged_blocks* blocks = NULL;
    int code = -1;
    REFUSED(sluice_paged_file_create(NULL, sizes, 3, &file), "context is NULL");
    REFUSED(sluice_paged_file_create(context, NULL, 3, &file), "bytes_of_blocks is NULL, blocks is 3");
    REFUSED(sluice_paged_file_create(context, sizes, 3, NULL), "file is NULL");
    REFUSED(sluice_paged_file_create(context, no_size, 2, &file), "block 1");
    EXPECT(file == NULL);
    OK(sluice_paged_file_create(context, sizes, 3, &file));
    REFUSED(sluice_paged_file_plan(file, NULL, 2, 0), "is NULL, count is 2");
    REFUSED(sluice_paged_file_plan(file, &beyond, 1, 0), "block 3");
    REFUSED(sluice_paged_file_use(file, &use, 1, NULL, NULL), "the done function is NULL");
    REFUSED(sluice_paged_file_use_now(file, &use, 1, NULL), "blocks is NULL");
    REFUSED(sluice_paged_file_use_now(file, &beyond, 1, &blocks), "block 3");
    REFUSED(sluice_paged_file_use_now(NULL, &use, 1, &blocks), "file is NULL");
    REFUSED(sluice_paged_file_report(file, NULL), "report is NULL");
    use.access = 7;
    REFUSED(sluice_paged_file_use_now(file, &use, 1, &blocks), "7 is no access to block 1");
    EXPECT(blocks == NULL);
    OK(sluice_paged_file_use(file, &beyond, 1, told, &code));
    while (code == -1 && faults == 0)
        OK(sluice_paged_file_progress(file, NULL));
    EXPECT(code == SLUICE_INVALID_ARGUMENT);
    use.access = SLUICE_BLOCK_ACCESS_READ;
    OK(sluice_paged_file_use_now(file, &use, 1, &blocks));
    OK(sluice_paged_file_free(&file));
    EXPECT(file == NULL);
    EXPECT(sluice_paged_blocks_bytes(blocks, 0) == 20); /* outlive the file */
    EXPECT(((char const*)sluice_paged_blocks_data(blocks, 0))[19] == 0);
    OK(sluice_paged_blocks_free(&blocks));
    OK(sluice_paged_blocks_free(&blocks)); /* nothing to free */
    REFUSED(sluice_paged_file_free(NULL), "is NULL");
    EXPECT(sluice_paged_blocks_count(NULL) == 0);
}

int main(int argc, char** argv) {
    sluice_context* const context = begin(&argc, &argv);
    sluice_paged_file* file = NULL;
    OK(sluice_paged_file_create_equal(context, BLOCKS, WORDS * sizeof(uint64_t), &file));
    write_all(file);
    sweep_all(file);
    publish_parts(context, file);
    look_at_report(file);
    OK(sluice_paged_file_free(&file));
    misuse(context);
    return end(context);
}
