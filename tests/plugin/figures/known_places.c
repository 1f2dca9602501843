/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes types at 700 places, more than a record has entries for; figures.py has the words. */
#include <mpi.h>
#include <stdio.h>

static MPI_Datatype made;

#define ONE(i)                                       \
    MPI_Type_contiguous(2 + (i), MPI_DOUBLE, &made); \
    if ((i) == 0) MPI_Type_free(&made);
#define TEN(i) ONE(i) ONE(i) ONE(i) ONE(i) ONE(i) ONE(i) ONE(i) ONE(i) ONE(i) ONE(i)
#define HUNDRED(i) TEN(i) TEN(i) TEN(i) TEN(i) TEN(i) TEN(i) TEN(i) TEN(i) TEN(i) TEN(i)

enum { places = 700, times = 6 };

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    for (int i = 0; i < times; ++i) {
        HUNDRED(i) HUNDRED(i) HUNDRED(i) HUNDRED(i) HUNDRED(i) HUNDRED(i) HUNDRED(i)
    }
    printf("everywhere %d %d %d\n", places * times, places * (times - 1), places * times);
    printf("kind datatype %d %d\n", places * times, places * (times - 1));
    MPI_Finalize();
    return 0;
}
