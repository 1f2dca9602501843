// SPDX-License-Identifier: BSD-3-Clause
// Closes its standard error and opens a data file, which gets the number 2: descriptor_2 FILE before|after|all|freopen.
// Each rank has a file of its own, FILE.RANK, and ends with 1 if it does not hold exactly the data at the end.
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char name[4096];

static int open_file(void) {
    return open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
}
/* Files get the numbers below 2, too. A thread of the MPI or of Sluice that opens a file for a moment may have got the
 * number. */
static int open_as_2(void) {
    int data = open_file();
    while (data >= 0 && data != 2)
        data = open_file();
    return data;
}

int main(int argc, char** argv) {
    if (argc != 3) return 3;
    char const* const way = argv[2];
    snprintf(name, sizeof name, "%s.%d", argv[1], (int)getpid());
    int data = -1;
    if (strcmp(way, "before") == 0) {
        close(2);
        data = open_as_2();
    }
    MPI_Init(&argc, &argv);
    if (strcmp(way, "after") == 0) {
        close(2);
        data = open_as_2();
    } else if (strcmp(way, "all") == 0) {
        for (int descriptor = 0; descriptor < 3; ++descriptor)
            close(descriptor);
        data = open_as_2();
    } else if (strcmp(way, "freopen") == 0) {
        if (freopen(name, "w", stderr) == NULL) return 3;
        data = 2;
    }
    if (data != 2 || write(data, "data\n", 5) != 5) return 2;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    FILE* const file = fopen(name, "r");
    char held[64];
    size_t const bytes = file == NULL ? 0 : fread(held, 1, sizeof held, file);
    return bytes == 5 && memcmp(held, "data\n", 5) == 0 ? 0 : 1;
}
