/* SPDX-License-Identifier: BSD-3-Clause */
// A small tool as others write them: it counts calls by defining MPI_X and calling PMPI_X, and prints the counts at the
// end on standard output, one line for each rank. It is preloaded or linked, before Sluice or after it. The counts must
// be the same as without Sluice, because messages of Sluice itself are not the program's.
#include <mpi.h>
#include <stdio.h>

enum {
    k_init,
    k_init_thread,
    k_finalize,
    k_send,
    k_recv,
    k_isend,
    k_irecv,
    k_wait,
    k_test,
    k_barrier,
    k_bcast,
    k_allreduce,
    k_alltoall,
    k_ialltoall,
    k_comm_dup,
    k_comm_split,
    k_comm_create_group,
    k_win_allocate,
    k_probe,
    k_counters
};
static char const* const k_names[k_counters] = {
    "Init",     "Init_thread", "Finalize",          "Send",         "Recv",      "Isend",    "Irecv",
    "Wait",     "Test",        "Barrier",           "Bcast",        "Allreduce", "Alltoall", "Ialltoall",
    "Comm_dup", "Comm_split",  "Comm_create_group", "Win_allocate", "Probe"};
static long counters[k_counters];
static int tested = 0;

#define COUNT(counter) __atomic_fetch_add(&counters[counter], 1, __ATOMIC_RELAXED)

int MPI_Init(int* argc, char*** argv) {
    COUNT(k_init);
    return PMPI_Init(argc, argv);
}
int MPI_Init_thread(int* argc, char*** argv, int wanted, int* provided) {
    COUNT(k_init_thread);
    return PMPI_Init_thread(argc, argv, wanted, provided);
}
int MPI_Finalize(void) {
    COUNT(k_finalize);
    int rank = -1;
    char line[1024];
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int used = snprintf(line, sizeof line, "counted by rank %d:", rank);
    for (int i = 0; i < k_counters; ++i) {
        // How often a request is tested depends on timing.
        long count = i == k_test ? tested : counters[i];
        used += snprintf(line + used, sizeof line - (size_t)used, " %s %ld", k_names[i], count);
    }
    int code = PMPI_Finalize();
    // The line is written in one piece with its end: an unbuffered puts makes two writes, between which another rank's
    // line may come.
    snprintf(line + used, sizeof line - (size_t)used, "\n");
    fputs(line, stdout);
    fflush(stdout);
    return code;
}
int MPI_Send(void const* out, int count, MPI_Datatype type, int target, int tag, MPI_Comm comm) {
    COUNT(k_send);
    return PMPI_Send(out, count, type, target, tag, comm);
}
int MPI_Recv(void* in, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status* status) {
    COUNT(k_recv);
    return PMPI_Recv(in, count, type, source, tag, comm, status);
}
int MPI_Isend(void const* out, int count, MPI_Datatype type, int target, int tag, MPI_Comm comm, MPI_Request* request) {
    COUNT(k_isend);
    return PMPI_Isend(out, count, type, target, tag, comm, request);
}
int MPI_Irecv(void* in, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request* request) {
    COUNT(k_irecv);
    return PMPI_Irecv(in, count, type, source, tag, comm, request);
}
int MPI_Wait(MPI_Request* request, MPI_Status* status) {
    COUNT(k_wait);
    return PMPI_Wait(request, status);
}
int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
    int code = PMPI_Test(request, flag, status);
    if (code == MPI_SUCCESS && *flag) ++tested;
    return code;
}
int MPI_Barrier(MPI_Comm comm) {
    COUNT(k_barrier);
    return PMPI_Barrier(comm);
}
int MPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
    COUNT(k_bcast);
    return PMPI_Bcast(data, count, type, root, comm);
}
int MPI_Allreduce(void const* out, void* in, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    COUNT(k_allreduce);
    return PMPI_Allreduce(out, in, count, type, op, comm);
}
int MPI_Alltoall(void const* out, int out_count, MPI_Datatype out_type, void* in, int in_count, MPI_Datatype in_type,
                 MPI_Comm comm) {
    COUNT(k_alltoall);
    return PMPI_Alltoall(out, out_count, out_type, in, in_count, in_type, comm);
}
int MPI_Ialltoall(void const* out, int out_count, MPI_Datatype out_type, void* in, int in_count, MPI_Datatype in_type,
                  MPI_Comm comm, MPI_Request* request) {
    COUNT(k_ialltoall);
    return PMPI_Ialltoall(out, out_count, out_type, in, in_count, in_type, comm, request);
}
int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* copy) {
    COUNT(k_comm_dup);
    return PMPI_Comm_dup(comm, copy);
}
int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* part) {
    COUNT(k_comm_split);
    return PMPI_Comm_split(comm, color, key, part);
}
int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* part) {
    COUNT(k_comm_create_group);
    return PMPI_Comm_create_group(comm, group, tag, part);
}
int MPI_Win_allocate(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void* base, MPI_Win* window) {
    COUNT(k_win_allocate);
    return PMPI_Win_allocate(size, unit, info, comm, base, window);
}
int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status* status) {
    COUNT(k_probe);
    return PMPI_Probe(source, tag, comm, status);
}
