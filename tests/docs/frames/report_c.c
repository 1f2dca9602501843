/* SPDX-License-Identifier: BSD-3-Clause */
//= block docs/c.md: sluice_report_get(report, "bytes_sent", &bytes);
/* Each rank sends its blocks to the next rank. */
#include <mpi.h>
#include <sluice/sluice.h>
#include <stdint.h>
#include <stdio.h>

enum { BLOCKS = 100, WORDS = 5 };

int report_c(void) {
    static int64_t blocks[BLOCKS][WORDS];
    int ranks[BLOCKS];
    int64_t indices[BLOCKS];
    uint64_t const count = BLOCKS;
    uint64_t const block_bytes = sizeof blocks[0];
    sluice_context* context = NULL;
    int rank, size, faults = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < BLOCKS; ++i) {
        ranks[i] = (rank + 1) % size;
        indices[i] = (i + 1) % BLOCKS;
        for (int word = 0; word < WORDS; ++word)
            blocks[i][word] = ((int64_t)rank * BLOCKS + i) * WORDS + word;
    }
    faults += sluice_context_create(MPI_COMM_WORLD, NULL, &context) != SLUICE_SUCCESS;
    //= paragraphs 1
    faults += bytes != (size > 1 ? count * block_bytes : 0);
    for (int i = 0; i < BLOCKS; ++i)
        for (int word = 0; word < WORDS; ++word)
            faults +=
                blocks[(i + 1) % BLOCKS][word] != ((int64_t)((rank + size - 1) % size) * BLOCKS + i) * WORDS + word;
    faults += sluice_context_free(&context) != SLUICE_SUCCESS;
    return faults;
}
