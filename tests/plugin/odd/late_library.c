/* SPDX-License-Identifier: BSD-3-Clause */
// The library that late.c loads; it is linked to MPI.
#include "transcript.h"

int run_late(void);

int run_late(void) {
    enum { k_each = 30000 };
    int argc = 0;
    char** argv = NULL;
    begin(&argc, &argv);
    static int data[64 * k_each];
    for (int i = 0; i < k_each * ranks; ++i)
        data[i] = me * 17 + i;
    CALL(MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, k_each, MPI_INT, MPI_COMM_WORLD));
    say_bytes("exchanged", data, sizeof(int) * (size_t)(k_each * ranks));
    return end();
}
