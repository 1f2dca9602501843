/* SPDX-License-Identifier: BSD-3-Clause */
// order SEED: all ranks but one send it numbered messages by every kind of standard send; it takes them from any
// source, by any tag or by one, with and without probes. Messages that match the same receive come in their order, and
// a probe tells their length.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "transcript.h"

enum { k_messages = 600, k_most = 1200, k_tags = 3, k_window = 8 };

struct message {
    int number;
    int of_tag;  // the how many-th of its tag
    int tag;
    int ints;
};

static unsigned state;
static unsigned draw(unsigned n) {
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % n;
}

static void send_all(int sink, unsigned seed) {
    static int data[k_window][k_most];
    MPI_Request requests[k_window];
    int numbers[k_tags] = {0};
    int open = 0;
    state = seed + (unsigned)me * 7919u;
    for (int i = 0; i < k_window; ++i)
        requests[i] = MPI_REQUEST_NULL;
    for (int i = 0; i < k_messages; ++i) {
        int const tag = (int)draw(k_tags);
        int const ints = 4 + (int)draw(draw(8) == 0 ? k_most - 3 : 60);
        int const how = (int)draw(5);
        if (open == k_window || how == 0) {
            MPI_Waitall(open, requests, MPI_STATUSES_IGNORE);
            open = 0;
        }
        int* const out = data[open];
        fill(out, (size_t)ints * sizeof(int), (unsigned)i);
        struct message const head = {i, numbers[tag]++, tag, ints};
        memcpy(out, &head, sizeof head);
        switch (how) {
            case 0:
            case 1:
                MPI_Send(out, ints, MPI_INT, sink, tag, MPI_COMM_WORLD);
                break;
            case 2:
                MPI_Isend(out, ints, MPI_INT, sink, tag, MPI_COMM_WORLD, &requests[open++]);
                break;
            case 3:
                MPI_Sendrecv(out, ints, MPI_INT, sink, tag, NULL, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD,
                             MPI_STATUS_IGNORE);
                break;
            default: {
                MPI_Request persistent;
                MPI_Send_init(out, ints, MPI_INT, sink, tag, MPI_COMM_WORLD, &persistent);
                MPI_Startall(1, &persistent);
                MPI_Wait(&persistent, MPI_STATUS_IGNORE);
                MPI_Request_free(&persistent);
            }
        }
    }
    MPI_Waitall(open, requests, MPI_STATUSES_IGNORE);
}

static int receive_one(int tag, int* in, MPI_Status* status) {
    int wrong = 0;
    int probed = -1;
    int counted = -1;
    switch (draw(3)) {
        case 0:
            MPI_Recv(in, k_most, MPI_INT, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, status);
            break;
        case 1:
            MPI_Probe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, status);
            MPI_Get_count(status, MPI_INT, &probed);
            MPI_Recv(in, k_most, MPI_INT, status->MPI_SOURCE, status->MPI_TAG, MPI_COMM_WORLD, status);
            break;
        default: {
            MPI_Message message;
            MPI_Mprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &message, status);
            MPI_Get_count(status, MPI_INT, &probed);
            MPI_Mrecv(in, k_most, MPI_INT, &message, status);
        }
    }
    MPI_Get_count(status, MPI_INT, &counted);
    if (probed >= 0 && probed != counted) ++wrong;
    return wrong + (counted != ((struct message*)in)->ints);
}

static void receive_all(unsigned seed) {
    int const all = (ranks - 1) * k_messages;
    int* const seen = room((size_t)ranks * k_tags * sizeof(int));
    memset(seen, 0, (size_t)ranks * k_tags * sizeof(int));
    int wrong = 0;
    uint64_t sum = 0;
    state = seed;
    for (int i = 0; i < all; ++i) {
        int tag = draw(2) == 0 ? MPI_ANY_TAG : (int)draw(k_tags);
        int there = 1;
        // A rank may be in a send that waits for its receive, so what is not there may never come.
        if (tag != MPI_ANY_TAG) MPI_Iprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
        if (!there) tag = MPI_ANY_TAG;
        static int in[k_most];
        MPI_Status status;
        if (draw(100) == 0) usleep(2000);
        wrong += receive_one(tag, in, &status);
        struct message head;
        memcpy(&head, in, sizeof head);
        if (head.tag != status.MPI_TAG) ++wrong;
        if (head.of_tag != seen[status.MPI_SOURCE * k_tags + head.tag]++) ++wrong;
        sum += checksum(in, (size_t)head.ints * sizeof(int));
    }
    int found = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    say("%d messages, %d wrong, %d left, sum %llx", all, wrong, found, (unsigned long long)sum);
    free(seen);
}

int main(int argc, char** argv) {
    unsigned const seed = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
    begin(&argc, &argv);
    if (me == 0)
        receive_all(seed);
    else
        send_all(0, seed);
    MPI_Barrier(MPI_COMM_WORLD);
    return end();
}
