/* SPDX-License-Identifier: BSD-3-Clause */
// growth HOW BYTES MESSAGES MOST_KIB [BEFORE], growth for BYTES SECONDS MOST_KIB: many ranks send to rank 0, which
// takes their messages source by source, and says how much its memory has grown: wrong if that is more than MOST_KIB.
// HOW burst: all nonblocking sends are started before the first is waited for.
// At its end it says what senders hold. BEFORE is what each rank does once before: it cancels a receive, frees a
// persistent one, or makes an error handler.
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../memory_kib.h"
#include "transcript.h"

static void no_handler(MPI_Comm* comm, int* code, ...) {
    (void)comm;
    (void)code;
}

static void do_before(char const* what) {
    char byte = 0;
    MPI_Request request;
    MPI_Errhandler handler;
    if (strcmp(what, "cancel_receive") == 0) {
        MPI_Irecv(&byte, 1, MPI_CHAR, me, 9, MPI_COMM_WORLD, &request);
        MPI_Cancel(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (strcmp(what, "free_receive") == 0) {
        MPI_Recv_init(&byte, 1, MPI_CHAR, me, 9, MPI_COMM_WORLD, &request);
        MPI_Request_free(&request);
    } else if (strcmp(what, "handler") == 0) {
        MPI_Comm_create_errhandler(no_handler, &handler);
        MPI_Errhandler_free(&handler);
    } else {
        exit(2);
    }
}

enum { k_burst = 1 << 16 };
static MPI_Request burst[k_burst];
static int burst_count = 0;

static void end_burst(void) {
    MPI_Waitall(burst_count, burst, MPI_STATUSES_IGNORE);
    burst_count = 0;
}

static void send_one(char const* how, void* data, int bytes) {
    MPI_Request request;
    if (strcmp(how, "isend") == 0) {
        MPI_Isend(data, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (strcmp(how, "burst") == 0) {
        if (burst_count == k_burst) end_burst();
        MPI_Isend(data, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, &burst[burst_count++]);
    } else if (strcmp(how, "freed") == 0) {
        MPI_Isend(data, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, &request);
        MPI_Request_free(&request);
    } else if (strcmp(how, "persistent") == 0) {
        MPI_Send_init(data, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, &request);
        MPI_Start(&request);
        MPI_Waitall(1, &request, MPI_STATUSES_IGNORE);
        MPI_Request_free(&request);
    } else if (strcmp(how, "sendrecv") == 0) {
        MPI_Sendrecv(data, bytes, MPI_CHAR, 0, 0, NULL, 0, MPI_CHAR, MPI_PROC_NULL, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    } else {
        MPI_Send(data, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    }
}

int main(int argc, char** argv) {
    char const* how = argv[1];
    int const bytes = atoi(argv[2]);
    int const by_time = strcmp(how, "for") == 0;
    long const messages = by_time ? LONG_MAX : atol(argv[3]);
    long const most_kib = atol(argv[4]);
    begin(&argc, &argv);
    if (argc > 5) do_before(argv[5]);
    char* data = room((size_t)bytes);
    fill(data, (size_t)bytes, 1);
    // The first messages make MPI's buffers.
    for (int round = 0; round < 100; ++round)
        for (int rank = 1; rank < ranks; ++rank)
            if (me == 0)
                MPI_Recv(data, bytes, MPI_CHAR, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            else if (me == rank)
                send_one(how, data, bytes);
    end_burst();
    MPI_Barrier(MPI_COMM_WORLD);
    long const before = memory_kib();
    long most = before;
    uint64_t const right = checksum(data, (size_t)bytes);
    long wrong = 0;
    double const started = MPI_Wtime();
    for (int rank = 1; rank < ranks; ++rank) {
        // The senders stop one after the other; the last message of each is empty.
        double const last = started + (double)atol(argv[3]) * rank / (ranks - 1);
        for (long i = 0; i < messages && (me == 0 || me == rank); ++i) {
            int const is_last = by_time && MPI_Wtime() > last;
            if (me != 0) {
                send_one(how, data, is_last ? 0 : bytes);
                if (is_last) break;
                continue;
            }
            MPI_Request request;
            MPI_Status status;
            int received = 0;
            if (strcmp(how, "irecv") == 0) {  // as its receiver receives
                MPI_Irecv(data, bytes, MPI_CHAR, rank, 0, MPI_COMM_WORLD, &request);
                MPI_Wait(&request, &status);
            } else {
                MPI_Recv(data, bytes, MPI_CHAR, rank, 0, MPI_COMM_WORLD, &status);
            }
            MPI_Get_count(&status, MPI_CHAR, &received);
            if (received == 0) break;
            if (i % 64 != 0) continue;
            if (checksum(data, (size_t)bytes) != right) ++wrong;
            long const now = memory_kib();
            if (now > most) most = now;
        }
    }
    end_burst();
    MPI_Barrier(MPI_COMM_WORLD);
    // What a burst takes of its sender are the program's requests.
    long const grown = me == 0 ? most - before : strcmp(how, "burst") == 0 ? 0 : memory_kib() - before;
    if (grown > most_kib) {
        ++wrong;
        say("grown by %ld KiB, at most %ld KiB were expected", grown, most_kib);
    }
    say("compared with the truth: %ld wrong", wrong);
    free(data);
    return end();
}
