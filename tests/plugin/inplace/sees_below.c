/* SPDX-License-Identifier: BSD-3-Clause */
// A tool that is preloaded after the plugin: it counts the all-to-alls that the plugin leaves to the MPI.
#include <mpi.h>

__attribute__((visibility("default"))) int alltoalls_seen_below = 0;

int MPI_Alltoall(void const* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                 MPI_Datatype recvtype, MPI_Comm comm) {
    ++alltoalls_seen_below;
    return PMPI_Alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}
