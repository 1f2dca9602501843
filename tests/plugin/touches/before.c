// SPDX-License-Identifier: BSD-3-Clause
// before.c [refused]: calls functions of MPI under the plugin of recording.hpp, and compares what the plugin says that
// each call may touch with what the program has passed. With "refused" nothing must be said. Two ranks.
#include <fcntl.h>
#include <inttypes.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int told = -1;  // where the plugin's lines are read
static int me, wrong, compared;

static char const* next_line(void) {
    static char line[4096];
    size_t n = 0;
    while (n + 1 < sizeof line && read(told, line + n, 1) == 1 && line[n] != '\n')
        ++n;
    line[n] = '\0';
    return line;
}

static char expected[4096];
static void begin(char const* function) {
    snprintf(expected, sizeof expected, "%s", function);
}
static void range(char const* how, void const* from, size_t bytes) {
    size_t const n = strlen(expected);
    snprintf(expected + n, sizeof expected - n, " %s 0x%" PRIxPTR " %zu", how, (uintptr_t)from, bytes);
}
static void reads(void const* from, size_t bytes) {
    range("reads", from, bytes);
}
static void writes(void const* from, size_t bytes) {
    range("writes", from, bytes);
}
static void anything(void) {
    strncat(expected, " anything", sizeof expected - strlen(expected) - 1);
}
static void compare(void) {
    char const* const line = next_line();
    ++compared;
    if (strcmp(line, expected) == 0) return;
    ++wrong;
    printf("rank %d: told     %s\n        expected %s\n", me, line, expected);
}
static void unwatched(char const* function) {
    snprintf(expected, sizeof expected, "unwatched %s", function);
    compare();
}

static int data[1024], other[1024];
static int const peer_of[2] = {1, 0};

static void point_to_point(void) {
    int const peer = peer_of[me];
    MPI_Status status;
    MPI_Request requests[2];
    MPI_Status statuses[2];

    if (me == 0) {
        MPI_Send(data, 100, MPI_INT, 1, 1, MPI_COMM_WORLD);
        begin("MPI_Send"), reads(data, 400), compare();
        MPI_Recv(data, 100, MPI_INT, 1, 1, MPI_COMM_WORLD, &status);
        begin("MPI_Recv"), writes(&status, sizeof status), writes(data, 400), compare();
    } else {
        MPI_Recv(other, 100, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        begin("MPI_Recv"), writes(other, 400), compare();
        MPI_Ssend(other, 100, MPI_INT, 0, 1, MPI_COMM_WORLD);
        begin("MPI_Ssend"), reads(other, 400), compare();
    }
    int count = 0;
    if (me == 0) {
        MPI_Get_count(&status, MPI_INT, &count);
        unwatched("MPI_Get_count");
    }
    MPI_Recv(data, 100, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &status);
    begin("MPI_Recv"), writes(&status, sizeof status), compare();
    MPI_Send(data, 0, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
    begin("MPI_Send"), compare();
    MPI_Sendrecv(data, 10, MPI_INT, peer, 2, other, 20, MPI_INT, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    begin("MPI_Sendrecv"), reads(data, 40), writes(other, 80), compare();
    MPI_Sendrecv(data, 10, MPI_INT, peer, 2, other, 20, MPI_INT, MPI_PROC_NULL, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    begin("MPI_Sendrecv"), reads(data, 40), compare();
    MPI_Recv(other, 20, MPI_INT, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    begin("MPI_Recv"), writes(other, 80), compare();

    MPI_Irecv(other, 64, MPI_DOUBLE, peer, 3, MPI_COMM_WORLD, &requests[0]);
    begin("MPI_Irecv"), writes(&requests[0], sizeof(MPI_Request)), writes(other, 512), compare();
    MPI_Isend(data, 64, MPI_DOUBLE, peer, 3, MPI_COMM_WORLD, &requests[1]);
    begin("MPI_Isend"), writes(&requests[1], sizeof(MPI_Request)), reads(data, 512), compare();
    MPI_Waitall(2, requests, statuses);
    begin("MPI_Waitall"), writes(requests, sizeof requests), writes(statuses, sizeof statuses), compare();
    int flag = 0;
    MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE);
    begin("MPI_Testall"), writes(&flag, sizeof flag), writes(requests, sizeof requests), compare();

    MPI_Send_init(data, 8, MPI_INT, MPI_PROC_NULL, 4, MPI_COMM_WORLD, &requests[0]);
    begin("MPI_Send_init"), writes(&requests[0], sizeof(MPI_Request)), compare();
    MPI_Start(&requests[0]);
    begin("MPI_Start"), writes(&requests[0], sizeof(MPI_Request)), anything(), compare();
    MPI_Wait(&requests[0], &status);
    begin("MPI_Wait"), writes(&requests[0], sizeof(MPI_Request)), writes(&status, sizeof status), compare();
    MPI_Request_free(&requests[0]);
    begin("MPI_Request_free"), writes(&requests[0], sizeof(MPI_Request)), compare();
    MPI_Iprobe(peer, 77, MPI_COMM_WORLD, &flag, &status);
    begin("MPI_Iprobe"), writes(&flag, sizeof flag), writes(&status, sizeof status), compare();
}

static void types(void) {
    int const peer = peer_of[me];
    MPI_Datatype strided, shifted, absolute;
    MPI_Type_vector(3, 2, 5, MPI_INT, &strided);
    unwatched("MPI_Type_vector");
    MPI_Type_commit(&strided);
    unwatched("MPI_Type_commit");
    // Two elements follow each other at the type's extent, 12 integers.
    MPI_Sendrecv(data, 2, strided, peer, 5, other, 12, MPI_INT, peer, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    begin("MPI_Sendrecv"), reads(data, 96), writes(other, 48), compare();
    int const length = 4;
    MPI_Aint const place = 64;
    MPI_Type_create_hindexed(1, &length, &place, MPI_INT, &shifted);
    unwatched("MPI_Type_create_hindexed");
    MPI_Type_commit(&shifted);
    unwatched("MPI_Type_commit");
    MPI_Bcast(data, 1, shifted, 0, MPI_COMM_WORLD);
    begin("MPI_Bcast"), writes((char*)data + 64, 16), compare();
    MPI_Aint address;
    MPI_Get_address(data, &address);
    unwatched("MPI_Get_address");
    MPI_Type_create_hindexed(1, &length, &address, MPI_INT, &absolute);
    unwatched("MPI_Type_create_hindexed");
    MPI_Type_commit(&absolute);
    unwatched("MPI_Type_commit");
    MPI_Bcast(MPI_BOTTOM, 1, absolute, 0, MPI_COMM_WORLD);
    begin("MPI_Bcast"), anything(), compare();
    MPI_Type_free(&absolute);
    unwatched("MPI_Type_free");
    MPI_Type_free(&shifted);
    unwatched("MPI_Type_free");
    MPI_Type_free(&strided);
    unwatched("MPI_Type_free");
}

static void add_up(void* in, void* inout, int* length, MPI_Datatype* type) {
    (void)type;
    for (int i = 0; i < *length; ++i)
        ((int*)inout)[i] += ((int*)in)[i];
}

static void reductions(void) {
    MPI_Allreduce(data, other, 50, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    begin("MPI_Allreduce"), reads(data, 200), writes(other, 200), compare();
    MPI_Allreduce(MPI_IN_PLACE, other, 50, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    begin("MPI_Allreduce"), writes(other, 200), compare();
    MPI_Reduce(data, other, 50, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    begin("MPI_Reduce"), reads(data, 200);
    if (me == 0) writes(other, 200);
    compare();
    int const counts[2] = {3, 5};
    MPI_Reduce_scatter(data, other, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    begin("MPI_Reduce_scatter"), reads(counts, sizeof counts), reads(data, 32);
    writes(other, sizeof(int) * (size_t)counts[me]), compare();
    MPI_Reduce_local(data, other, 7, MPI_INT, MPI_SUM);
    begin("MPI_Reduce_local"), reads(data, 28), writes(other, 28), compare();
    MPI_Op op;
    MPI_Op_create(add_up, 1, &op);
    unwatched("MPI_Op_create");
    MPI_Allreduce(data, other, 50, MPI_INT, op, MPI_COMM_WORLD);
    begin("MPI_Allreduce"), reads(data, 200), writes(other, 200), anything(), compare();
    MPI_Op_free(&op);
    unwatched("MPI_Op_free");
}

static void blocks(void) {
    int const counts[2] = {4, 2}, places[2] = {0, 10};
    int* const no_counts = (int*)(uintptr_t)(1 << 20);  // where no memory is: only the root has them
    MPI_Gatherv(data, counts[me], MPI_INT, other, me == 0 ? counts : no_counts, me == 0 ? places : no_counts, MPI_INT,
                0, MPI_COMM_WORLD);
    begin("MPI_Gatherv"), reads(data, sizeof(int) * (size_t)counts[me]);
    if (me == 0) reads(counts, sizeof counts), reads(places, sizeof places), writes(other, 48);
    compare();
    MPI_Gather(data, 4, MPI_INT, other, 4, MPI_INT, 1, MPI_COMM_WORLD);
    begin("MPI_Gather"), reads(data, 16);
    if (me == 1) writes(other, 32);
    compare();
    int const twos[2] = {2, 2}, from[2] = {3, 1};
    MPI_Alltoallv(data, twos, from, MPI_INT, other, twos, places, MPI_INT, MPI_COMM_WORLD);
    begin("MPI_Alltoallv"), reads(twos, sizeof twos), reads(from, sizeof from), reads(data + 1, 16);
    reads(twos, sizeof twos), reads(places, sizeof places), writes(other, 48), compare();
    MPI_Alltoallv(MPI_IN_PLACE, no_counts, no_counts, MPI_INT, other, twos, places, MPI_INT, MPI_COMM_WORLD);
    begin("MPI_Alltoallv"), reads(twos, sizeof twos), reads(places, sizeof places), writes(other, 48), compare();
    MPI_Datatype const of[2] = {MPI_INT, MPI_INT};
    int const in_bytes[2] = {0, 8};
    MPI_Alltoallw(data, twos, in_bytes, of, other, twos, in_bytes, of, MPI_COMM_WORLD);
    begin("MPI_Alltoallw"), reads(twos, 8), reads(in_bytes, 8), reads(of, sizeof of), reads(data, 16);
    reads(twos, 8), reads(in_bytes, 8), reads(of, sizeof of), writes(other, 16), compare();
    MPI_Allgather(data, 3, MPI_INT, other, 3, MPI_INT, MPI_COMM_WORLD);
    begin("MPI_Allgather"), reads(data, 12), writes(other, 24), compare();
    MPI_Barrier(MPI_COMM_WORLD);
    begin("MPI_Barrier"), compare();
}

static void packing(void) {
    int place = 0;
    MPI_Pack(data, 10, MPI_INT, other, 100, &place, MPI_COMM_WORLD);
    begin("MPI_Pack"), writes(&place, sizeof place), reads(data, 40), writes(other, 100), compare();
    place = 0;
    MPI_Unpack(other, 100, &place, data, 10, MPI_INT, MPI_COMM_WORLD);
    begin("MPI_Unpack"), writes(&place, sizeof place), writes(other, 100), writes(data, 40), compare();
    MPI_Aint start = 0;
    static char const external[] = "external32";
    size_t const page = 4096 - (uintptr_t)external % 4096;
    MPI_Pack_external(external, data, 10, MPI_INT, other, 100, &start);
    begin("MPI_Pack_external"), writes(&start, sizeof start), reads(external, page), reads(data, 40);
    writes(other, 100), compare();
}

static void communicators(void) {
    MPI_Comm half, copy, grid;
    int size = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    unwatched("MPI_Comm_size");
    MPI_Comm_split(MPI_COMM_WORLD, me, 0, &half);
    begin("MPI_Comm_split"), writes(&half, sizeof half), compare();
    MPI_Allreduce(data, other, 50, MPI_INT, MPI_SUM, half);
    begin("MPI_Allreduce"), reads(data, 200), writes(other, 200), compare();
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    begin("MPI_Comm_dup"), writes(&copy, sizeof copy), anything(), compare();
    int const dims[1] = {2}, around[1] = {1};
    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, around, 0, &grid);
    begin("MPI_Cart_create"), writes(&grid, sizeof grid), reads(dims, 4), reads(around, 4), compare();
    MPI_Neighbor_alltoall(data, 2, MPI_INT, other, 2, MPI_INT, grid);
    begin("MPI_Neighbor_alltoall"), reads(data, 16), writes(other, 16), compare();
    MPI_Comm_free(&grid);
    begin("MPI_Comm_free"), writes(&grid, sizeof grid), anything(), compare();
    MPI_Comm_free(&copy);
    begin("MPI_Comm_free"), writes(&copy, sizeof copy), anything(), compare();
    MPI_Comm_free(&half);
    begin("MPI_Comm_free"), writes(&half, sizeof half), anything(), compare();
}

static int no_query(void* state, MPI_Status* status) {
    (void)state;
    MPI_Status_set_elements(status, MPI_BYTE, 0);
    MPI_Status_set_cancelled(status, 0);
    return MPI_SUCCESS;
}
static int no_free(void* state) {
    (void)state;
    return MPI_SUCCESS;
}
static int no_cancel(void* state, int complete) {
    (void)state, (void)complete;
    return MPI_SUCCESS;
}

/// From the first generalized request on a completion may run functions of the program.
static void functions_of_the_program(void) {
    MPI_Request request;
    MPI_Grequest_start(no_query, no_free, no_cancel, NULL, &request);
    unwatched("MPI_Grequest_start");
    MPI_Grequest_complete(request);
    unwatched("MPI_Grequest_complete");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    begin("MPI_Wait"), writes(&request, sizeof request), anything(), compare();
}

static void forks(void) {
    pid_t const child = fork();
    if (child == 0) _exit(0);
    waitpid(child, NULL, 0);
    snprintf(expected, sizeof expected, "fork");
    compare();
}

int main(int argc, char** argv) {
    int ends[2];
    char number[16];
    if (pipe(ends) != 0) return 2;
    told = ends[0];
    snprintf(number, sizeof number, "%d", ends[1]);
    setenv("SLUICE_TEST_TOLD", number, 1);
    int provided = -1, level = -1;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Query_thread(&level);
    if (provided != MPI_THREAD_FUNNELED || level != MPI_THREAD_FUNNELED) {
        printf("provided %d, level %d\n", provided, level);
        ++wrong;
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    if (argc > 1) {
        MPI_Barrier(MPI_COMM_WORLD);
        fcntl(told, F_SETFL, O_NONBLOCK);
        char any;
        if (read(told, &any, 1) != -1) ++wrong;
    } else {
        unwatched("MPI_Query_thread");
        unwatched("MPI_Comm_rank");
        point_to_point();
        types();
        reductions();
        blocks();
        packing();
        communicators();
        functions_of_the_program();
        forks();
    }
    MPI_Finalize();
    printf("rank %d: %d lines compared, %d wrong\n", me, compared, wrong);
    return wrong != 0;
}
