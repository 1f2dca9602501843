/* SPDX-License-Identifier: BSD-3-Clause */
// unsafe MODE [SEED]: programs that rely on MPI to buffer their sends. They end under flood control as they do without.
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "transcript.h"

enum { k_bytes = 1000, k_messages = 12, k_stop = 5, k_last = 6 };

static unsigned draws_left = 1;
static unsigned draw(unsigned n) {
    draws_left = draws_left * 1664525u + 1013904223u;
    return (draws_left >> 8) % n;
}

static void send_to(int to, int tag, unsigned seed) {
    char data[k_bytes];
    fill(data, sizeof data, seed);
    MPI_Send(data, k_bytes, MPI_CHAR, to, tag, MPI_COMM_WORLD);
}

static uint64_t receive_from(int from, int tag) {
    char data[k_bytes];
    memset(data, 0, sizeof data);
    MPI_Recv(data, k_bytes, MPI_CHAR, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return checksum(data, sizeof data);
}

// Rank 1 receives from rank 2 until rank 2 is told by rank 0 to stop, and rank 0 sends to rank 1 before it tells it.
static void tells_when_to_stop(void) {
    if (me == 0) {
        for (int i = 0; i < k_messages; ++i)
            send_to(1, 0, (unsigned)i);
        send_to(2, k_stop, 0);
    } else if (me == 1) {
        char data[k_bytes];
        MPI_Status status;
        do
            MPI_Recv(data, k_bytes, MPI_CHAR, 2, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        while (status.MPI_TAG != k_last);
        for (int i = 0; i < k_messages; ++i)
            say("message %d: %llx", i, (unsigned long long)receive_from(0, 0));
    } else if (me == 2) {
        int told = 0;
        while (!told) {
            send_to(1, 1, 1);
            MPI_Iprobe(0, k_stop, MPI_COMM_WORLD, &told, MPI_STATUS_IGNORE);
        }
        receive_from(0, k_stop);
        send_to(1, k_last, 2);
    }
}

static void all_send_first(void) {
    for (int i = 0; i < k_messages; ++i)
        for (int to = 0; to < ranks; ++to)
            if (to != me) send_to(to, i, (unsigned)(me * 100 + i));
    for (int i = k_messages - 1; i >= 0; --i)  // the last tag first
        for (int from = 0; from < ranks; ++from)
            if (from != me) say("from %d tag %d: %llx", from, i, (unsigned long long)receive_from(from, i));
}

static void ring(void) {
    int const right = (me + 1) % ranks;
    int const left = (me + ranks - 1) % ranks;
    char out[k_bytes] = {0};
    char in[k_bytes];
    MPI_Request persistent;
    MPI_Send_init(out, k_bytes, MPI_CHAR, right, 3, MPI_COMM_WORLD, &persistent);
    for (int i = 0; i < k_messages; ++i) {
        MPI_Request request;
        fill(out, sizeof out, (unsigned)(me * 100 + i));
        MPI_Send(out, k_bytes, MPI_CHAR, right, 1, MPI_COMM_WORLD);
        MPI_Isend(out, k_bytes, MPI_CHAR, right, 2, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Start(&persistent);
        MPI_Wait(&persistent, MPI_STATUS_IGNORE);
        MPI_Sendrecv(out, k_bytes, MPI_CHAR, right, 4, in, k_bytes, MPI_CHAR, left, 4, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        say("round %d: %llx", i, (unsigned long long)checksum(in, sizeof in));
        MPI_Sendrecv_replace(out, k_bytes, MPI_CHAR, right, 5, left, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        say("replaced %d: %llx", i, (unsigned long long)checksum(out, sizeof out));
    }
    for (int i = 0; i < k_messages; ++i)
        for (int tag = 3; tag >= 1; --tag)
            say("late %d tag %d: %llx", i, tag, (unsigned long long)receive_from(left, tag));
    MPI_Request_free(&persistent);
}

// Rounds of messages between random pairs: all are sent before any is received, in whatever order.
static void random_rounds(unsigned seed) {
    draws_left = seed;
    for (int round = 0; round < 6; ++round) {
        enum { k_round = 40 };
        int from[k_round];
        int to[k_round];
        int how[k_round];
        MPI_Request requests[k_round];
        static char data[k_round][4096];
        int lengths[k_round];
        int open = 0;
        for (int i = 0; i < k_round; ++i) {
            from[i] = (int)draw((unsigned)ranks);
            to[i] = (int)draw((unsigned)ranks);
            how[i] = (int)draw(3);
            lengths[i] = (int)draw(3900);  // below the eager limits of both MPIs
        }
        for (int i = 0; i < k_round; ++i) {
            if (from[i] != me || to[i] == me) continue;
            fill(data[i], sizeof data[i], (unsigned)(round * 1000 + i));
            if (how[i] == 0)
                MPI_Send(data[i], lengths[i], MPI_CHAR, to[i], i, MPI_COMM_WORLD);
            else
                MPI_Isend(data[i], lengths[i], MPI_CHAR, to[i], i, MPI_COMM_WORLD, &requests[open++]);
            if (how[i] == 2) {
                int done = 0;
                while (!done)
                    MPI_Testall(open, requests, &done, MPI_STATUSES_IGNORE);
                open = 0;
            }
        }
        MPI_Waitall(open, requests, MPI_STATUSES_IGNORE);
        int const begin = (int)draw(k_round);
        for (int k = 0; k < k_round; ++k) {
            int const i = (begin + k * 7) % k_round;
            if (to[i] != me || from[i] == me) continue;
            char in[4096];
            MPI_Status status = untouched_status();
            MPI_Recv(in, 4096, MPI_CHAR, from[i], i, MPI_COMM_WORLD, &status);
            say_status("received", &status, MPI_CHAR);
            say_bytes("data", in, (size_t)lengths[i]);
        }
    }
}

// Each rank starts many sends to each other one before it receives, again and again.
static void bursts(void) {
    enum { k_burst = 150 };
    MPI_Request* const requests = malloc((size_t)(k_burst * ranks) * sizeof *requests);
    char(*const data)[64] = malloc((size_t)k_burst * sizeof *data);
    for (int round = 0; round < 8; ++round) {
        int open = 0;
        for (int i = 0; i < k_burst; ++i) {
            fill(data[i], sizeof data[i], (unsigned)(round * 1000 + me * 100 + i));
            for (int to = 0; to < ranks; ++to)
                if (to != me) MPI_Isend(data[i], sizeof data[i], MPI_CHAR, to, i, MPI_COMM_WORLD, &requests[open++]);
        }
        uint64_t sum = 0;
        for (int from = 0; from < ranks; ++from)
            for (int i = 0; i < k_burst && from != me; ++i)
                sum = sum * 31 + receive_from(from, i);
        MPI_Waitall(open, requests, MPI_STATUSES_IGNORE);
        say("round %d: %llx", round, (unsigned long long)sum);
    }
    free(data);
    free(requests);
}

// What is sent last is never received.
static void leaves_messages_behind(void) {
    for (int i = 0; i < 200; ++i)
        send_to((me + 1) % ranks, i, (unsigned)i);
    say("first: %llx", (unsigned long long)receive_from((me + ranks - 1) % ranks, 0));
}

static void dies(int who) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == who) {
        for (int i = 0; me == 0 && i < 20; ++i)
            send_to(1, i, 0);
        raise(SIGKILL);
    }
    for (int i = 0; me != who && i < 100000; ++i)
        if (who == 1)
            send_to(1, 0, (unsigned)i);
        else
            receive_from(0, 100);
}

int main(int argc, char** argv) {
    char const* mode = argc > 1 ? argv[1] : "";
    unsigned const seed = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
    begin(&argc, &argv);
    if (strcmp(mode, "stop") == 0) tells_when_to_stop();
    if (strcmp(mode, "first") == 0) all_send_first();
    if (strcmp(mode, "ring") == 0) ring();
    if (strcmp(mode, "bursts") == 0) bursts();
    if (strcmp(mode, "random") == 0) random_rounds(seed);
    if (strcmp(mode, "in_turn") == 0) {
        random_rounds(seed);
        MPI_Barrier(MPI_COMM_WORLD);
        if (ranks > 2) tells_when_to_stop();
        MPI_Barrier(MPI_COMM_WORLD);
        all_send_first();
        MPI_Barrier(MPI_COMM_WORLD);
        ring();
    }
    if (strcmp(mode, "behind") == 0) leaves_messages_behind();
    if (strcmp(mode, "receiver_dies") == 0) dies(1);
    if (strcmp(mode, "sender_dies") == 0) dies(0);
    return end();
}
