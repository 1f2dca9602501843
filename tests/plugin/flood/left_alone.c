/* SPDX-License-Identifier: BSD-3-Clause */
// Sends that flood control leaves alone: to oneself and to MPI_PROC_NULL, ready, buffered and synchronous ones, large
// ones, and those on intercommunicators.
#include <stdlib.h>
#include <string.h>

#include "transcript.h"

enum { k_bytes = 900, k_messages = 100, k_large = 1 << 17 };

static char out[k_bytes];
static char in[k_bytes];

static void to_oneself(void) {
    for (int i = 0; i < k_messages; ++i) {
        MPI_Request request;
        fill(out, sizeof out, (unsigned)i);
        MPI_Isend(out, k_bytes, MPI_CHAR, me, 1, MPI_COMM_WORLD, &request);
        MPI_Recv(in, k_bytes, MPI_CHAR, me, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Sendrecv(out, k_bytes, MPI_CHAR, me, 2, in, k_bytes, MPI_CHAR, me, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(out, k_bytes, MPI_CHAR, MPI_PROC_NULL, 3, MPI_COMM_WORLD);
    }
    say_bytes("to oneself", in, sizeof in);
}

enum how { k_ready, k_buffered, k_synchronous };

static void one_way(int partner, int sends, enum how how) {
    uint64_t sum = 0;
    for (int i = 0; i < k_messages; ++i) {
        char go = 0;
        MPI_Request request;
        if (!sends) {
            MPI_Irecv(in, k_bytes, MPI_CHAR, partner, 1, MPI_COMM_WORLD, &request);
            MPI_Ssend(&go, 1, MPI_CHAR, partner, 2, MPI_COMM_WORLD);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            sum = sum * 31 + checksum(in, sizeof in);
            continue;
        }
        fill(out, sizeof out, (unsigned)i);
        MPI_Recv(&go, 1, MPI_CHAR, partner, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (how == k_ready) MPI_Rsend(out, k_bytes, MPI_CHAR, partner, 1, MPI_COMM_WORLD);
        if (how == k_buffered) MPI_Bsend(out, k_bytes, MPI_CHAR, partner, 1, MPI_COMM_WORLD);
        if (how == k_synchronous) {
            MPI_Issend(out, k_bytes, MPI_CHAR, partner, 1, MPI_COMM_WORLD, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
    }
    say("way %d: sum %llx", (int)how, (unsigned long long)sum);
}

static void large_ones(int partner, int sends) {
    char* const data = room(k_large);
    memset(data, 0, k_large);
    for (int i = 0; i < 10; ++i) {
        if (sends) {
            fill(data, k_large, (unsigned)i);
            MPI_Send(data, k_large, MPI_CHAR, partner, 4, MPI_COMM_WORLD);
        } else {
            MPI_Recv(data, k_large, MPI_CHAR, partner, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            say_bytes("large", data, k_large);
        }
    }
    free(data);
}

static void on_an_intercommunicator(void) {
    MPI_Comm mine;
    MPI_Comm between;
    uint64_t sum = 0;
    int size = 0;
    int rank = 0;
    int others = 0;
    MPI_Comm_split(MPI_COMM_WORLD, me % 2, me, &mine);
    MPI_Intercomm_create(mine, 0, MPI_COMM_WORLD, 1 - me % 2, 5, &between);
    MPI_Comm_size(mine, &size);
    MPI_Comm_rank(mine, &rank);
    MPI_Comm_remote_size(between, &others);
    for (int i = 0; i < k_messages && rank < others && rank < size; ++i) {
        MPI_Request request;
        fill(out, sizeof out, (unsigned)(i + me));
        MPI_Isend(out, k_bytes, MPI_CHAR, rank, 1, between, &request);
        MPI_Recv(in, k_bytes, MPI_CHAR, rank, 1, between, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        sum = sum * 31 + checksum(in, sizeof in);
    }
    say("between: sum %llx", (unsigned long long)sum);
    MPI_Comm_free(&between);
    MPI_Comm_free(&mine);
}

int main(int argc, char** argv) {
    begin(&argc, &argv);
    int const partner = me ^ 1;
    int const bytes = k_messages * (k_bytes + MPI_BSEND_OVERHEAD);
    char* attached = room((size_t)bytes);
    MPI_Buffer_attach(attached, bytes);
    to_oneself();
    for (enum how how = k_ready; partner < ranks && how <= k_synchronous; ++how)
        one_way(partner, me % 2 == 0, how);
    if (partner < ranks) large_ones(partner, me % 2 == 0);
    if (ranks > 1) on_an_intercommunicator();
    void* detached = NULL;
    int size = 0;
    MPI_Buffer_detach((void*)&detached, &size);
    free(attached);
    return end();
}
