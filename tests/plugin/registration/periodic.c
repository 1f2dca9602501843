// SPDX-License-Identifier: BSD-3-Clause
// periodic ROUNDS BUFFERS BYTES MILLISECONDS [nonblocking] [persistent] [one] [multiple] [unseen] [beside]
// [each_round]: rank 0 sends, round by round, each of its buffers to rank 1, with that much work between messages, by
// one call, by two, or by a request that is made once; with `unseen` its pinned memory is not looked at; with `one` it
// sends from one buffer, and rank 1 receives into all; with `beside` each round has a stream of small messages and an
// all-to-all in place, too. Prints what each rank registered after the first two rounds, its pinned memory over all
// rounds, and by how much it has grown in their second half; with `each_round` also how many buffers it registered in
// each round.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "pinned.h"

static void work(long milliseconds) {
    struct timespec const pause = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    nanosleep(&pause, NULL);
}

static unsigned char pattern(int round, int buffer, size_t at) {
    return (unsigned char)((unsigned)round * 31 + (unsigned)buffer * 7 + at % 251 + 1);
}

static void fill(unsigned char* bytes, size_t count, int round, int buffer) {
    for (size_t i = 0; i < count; ++i)
        bytes[i] = pattern(round, buffer, i);
}

static size_t wrong_bytes(unsigned char const* bytes, size_t count, int round, int buffer) {
    size_t wrong = 0;
    for (size_t i = 0; i < count; ++i)
        wrong += bytes[i] != pattern(round, buffer, i);
    return wrong;
}

static int has_word(char** words, char const* word) {
    for (; *words != NULL; ++words)
        if (strcmp(*words, word) == 0) return 1;
    return 0;
}

static MPI_Request made_once(int rank, unsigned char* buffer, int bytes) {
    MPI_Request request = MPI_REQUEST_NULL;
    if (rank == 0) MPI_Send_init(buffer, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &request);
    if (rank == 1) MPI_Recv_init(buffer, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &request);
    return request;
}

static void start(MPI_Request* request) {
    MPI_Start(request);
    MPI_Wait(request, MPI_STATUS_IGNORE);
}

static void exchange(int rank, unsigned char* buffer, int bytes, int nonblocking) {
    MPI_Request request = MPI_REQUEST_NULL;
    if (rank == 0 && !nonblocking) MPI_Send(buffer, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    if (rank == 1 && !nonblocking) MPI_Recv(buffer, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 0 && nonblocking) MPI_Isend(buffer, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &request);
    if (rank == 1 && nonblocking) MPI_Irecv(buffer, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &request);
    if (nonblocking) MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/// A stream of small messages to rank 1.
static size_t stream(int rank, int round) {
    enum { messages = 64, bytes = 2000 };
    unsigned char small[bytes];
    size_t wrong = 0;
    for (int i = 0; i < messages; ++i) {
        if (rank == 0) {
            fill(small, bytes, round, i);
            MPI_Send(small, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
        } else if (rank == 1) {
            MPI_Recv(small, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            wrong += wrong_bytes(small, bytes, round, i);
        }
    }
    return wrong;
}

/// Block `to` of rank `from` is pattern 2 · from + to.
static size_t all_to_all(int rank, int round) {
    enum { ranks = 2, bytes = 400000 };
    static unsigned char blocks[ranks][bytes];
    for (int to = 0; to < ranks; ++to)
        fill(blocks[to], bytes, round, ranks * rank + to);
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, blocks, bytes, MPI_BYTE, MPI_COMM_WORLD);
    size_t wrong = 0;
    for (int from = 0; from < ranks; ++from)
        wrong += wrong_bytes(blocks[from], bytes, round, ranks * from + rank);
    return wrong;
}

/// What is pinned at the begin may go away later: a registration of freed memory ends with the next one.
static unsigned long above(unsigned long now, unsigned long begin) {
    return now > begin ? now - begin : 0;
}

int main(int count, char** arguments) {
    if (count < 5) return 2;
    int const rounds = atoi(arguments[1]);
    int const buffers = atoi(arguments[2]);
    int const bytes = atoi(arguments[3]);
    long const milliseconds = atol(arguments[4]);
    int const nonblocking = has_word(arguments + 5, "nonblocking");
    int const persistent = has_word(arguments + 5, "persistent");
    int const from_one = has_word(arguments + 5, "one");
    int const seen = !has_word(arguments + 5, "unseen");
    int const beside = has_word(arguments + 5, "beside");
    int const each_round = has_word(arguments + 5, "each_round");
    // A page that the kernel makes a huge one, 2 MiB, is no growth of the process.
    if (!seen) prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
    int given = MPI_THREAD_SINGLE;
    MPI_Init_thread(&count, &arguments, has_word(arguments + 5, "multiple") ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                    &given);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    unsigned char** const memory = malloc((size_t)buffers * sizeof *memory);
    MPI_Request* const requests = malloc((size_t)buffers * sizeof *requests);
    for (int i = 0; i < buffers; ++i)
        memory[i] = malloc((size_t)bytes);
    for (int i = 0; i < buffers && persistent; ++i)
        requests[i] = made_once(rank, memory[rank == 0 && from_one ? 0 : i], bytes);
    // Connections take pinned memory with the first large message.
    unsigned char* const first = malloc((size_t)bytes);
    fill(first, (size_t)bytes, 0, 0);
    exchange(rank, first, bytes, 0);
    free(first);
    size_t wrong = 0;
    struct Pinned pinned = begin_pinned();
    struct Registrations learnt = count_registrations();
    unsigned long resident = 0;
    unsigned long* const by_round = malloc((size_t)(rounds + 1) * sizeof *by_round);
    for (int round = 0; round < rounds; ++round) {
        if (round == 2) learnt = count_registrations();
        by_round[round] = count_registrations().main;
        if (round == rounds / 2) resident = status_kib("VmRSS:");
        for (int i = 0; i < buffers; ++i) {
            unsigned char* const buffer = memory[rank == 0 && from_one ? 0 : i];
            if (rank == 0) fill(buffer, (size_t)bytes, round, i);
            if (persistent)
                start(&requests[i]);
            else
                exchange(rank, buffer, bytes, nonblocking);
            if (seen) see_pinned(&pinned);
            if (rank == 1) wrong += wrong_bytes(buffer, (size_t)bytes, round, i);
            work(milliseconds);
            if (seen) see_pinned(&pinned);
        }
        if (beside) wrong += stream(rank, round) + all_to_all(rank, round);
    }
    unsigned long const grown = above(status_kib("VmRSS:"), resident);
    struct Registrations const all = count_registrations();
    by_round[rounds] = all.main;
    for (int i = 0; i < buffers && persistent; ++i)
        MPI_Request_free(&requests[i]);
    for (int turn = 0; turn < 2; ++turn) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (turn != rank) continue;
        printf(
            "rank %d wrong %zu messages %d main %lu others %lu removed_main %lu removed_others %lu start_kib %lu "
            "peak_kib "
            "%lu average_kib %lu grown_kib %lu\n",
            rank, wrong, (rounds - 2) * buffers, all.main - learnt.main, all.others - learnt.others,
            all.removed_by_main - learnt.removed_by_main, all.removed_by_others - learnt.removed_by_others,
            pinned.begin, above(pinned.peak, pinned.begin), above(seen ? pinned.sum / pinned.looks : 0, pinned.begin),
            grown);
        if (each_round) printf("each round of rank %d:", rank);
        for (int round = 0; round < rounds && each_round; ++round)
            printf(" %lu", by_round[round + 1] - by_round[round]);
        if (each_round) printf("\n");
        fflush(stdout);
    }
    MPI_Finalize();
    printf("rank %d after MPI_Finalize %lu KiB pinned\n", rank, pinned_kib());
    return wrong != 0;
}
