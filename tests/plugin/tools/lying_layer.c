/* SPDX-License-Identifier: BSD-3-Clause */
// Takes the place of a preload plugin with a fault, which $LIE names. The driver must detect each fault.
//   data      one byte of an in-place all-to-all is wrong
//   error     MPI_ERROR of a single completion is written
//   code      an erroneous call returns success
//   comm      communicators of the user are duplicated on the way (attribute callbacks run twice)
//   level     a higher thread level is provided
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static int lie(char const* what) {
    char const* chosen = getenv("LIE");
    return chosen != NULL && strcmp(chosen, what) == 0;
}

int MPI_Alltoall(void const* out, int out_count, MPI_Datatype out_type, void* in, int in_count, MPI_Datatype in_type,
                 MPI_Comm comm) {
    int code = PMPI_Alltoall(out, out_count, out_type, in, in_count, in_type, comm);
    if (lie("data") && out == MPI_IN_PLACE && in_count == 100) ++*(char*)in;
    return code;
}

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
    int code = PMPI_Wait(request, status);
    if (lie("error") && status != MPI_STATUS_IGNORE) status->MPI_ERROR = MPI_SUCCESS;
    return code;
}

int MPI_Send(void const* out, int count, MPI_Datatype type, int target, int tag, MPI_Comm comm) {
    int code = PMPI_Send(out, count, type, target, tag, comm);
    return lie("code") ? MPI_SUCCESS : code;
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* copy) {
    if (lie("comm")) {
        MPI_Comm own;
        PMPI_Comm_dup(comm, &own);
        PMPI_Comm_free(&own);
    }
    return PMPI_Comm_dup(comm, copy);
}

int MPI_Init_thread(int* argc, char*** argv, int wanted, int* provided) {
    int code = PMPI_Init_thread(argc, argv, wanted, provided);
    if (lie("level")) ++*provided;
    return code;
}
