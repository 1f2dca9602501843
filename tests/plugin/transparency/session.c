/* SPDX-License-Identifier: BSD-3-Clause */
// MPI by a session alone, without MPI_Init.
#include <mpi.h>
#include <stdio.h>

int main(void) {
    MPI_Session session;
    int sets = 0;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Session_get_num_psets(session, MPI_INFO_NULL, &sets);
    printf("%d sets\n", sets);
    MPI_Session_finalize(&session);
    return 0;
}
