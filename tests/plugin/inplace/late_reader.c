/* SPDX-License-Identifier: BSD-3-Clause */
// An MPI that reads the arrays of MPI_Ialltoallw when the request is completed, as the standard allows it: a library
// that is preloaded after the plugin. MPI_Finalize fails if an array of Sluice had changed by then, or if no call came
// with such arrays.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { k_arrays = 4 };
static void const* arrays[k_arrays];
static void* kept[k_arrays];
static size_t bytes[k_arrays];
static int calls, changed;

int MPI_Ialltoallw(void const* sendbuf, int const sendcounts[], int const sdispls[], MPI_Datatype const sendtypes[],
                   void* recvbuf, int const recvcounts[], int const rdispls[], MPI_Datatype const recvtypes[],
                   MPI_Comm comm, MPI_Request* request) {
    if (sendbuf != MPI_IN_PLACE) {
        int size = 0;
        PMPI_Comm_size(comm, &size);
        void const* const now[k_arrays] = {sendcounts, sdispls, sendtypes, recvcounts};
        ++calls;
        for (int i = 0; i < k_arrays; ++i) {
            arrays[i] = now[i];
            bytes[i] = (size_t)size * (now[i] == sendtypes ? sizeof(MPI_Datatype) : sizeof(int));
            kept[i] = malloc(bytes[i]);
            memcpy(kept[i], now[i], bytes[i]);
        }
    }
    return PMPI_Ialltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm,
                           request);
}

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
    for (int i = 0; i < k_arrays && arrays[i] != NULL; ++i) {
        changed += memcmp(arrays[i], kept[i], bytes[i]) != 0;
        free(kept[i]);
        arrays[i] = NULL;
    }
    return PMPI_Wait(request, status);
}

int MPI_Finalize(void) {
    printf("%d calls with arrays of Sluice, %d arrays changed before their request was complete\n", calls, changed);
    fflush(stdout);
    if (calls == 0 || changed != 0) PMPI_Abort(MPI_COMM_WORLD, 1);
    return PMPI_Finalize();
}
