/* SPDX-License-Identifier: BSD-3-Clause */
/* Four threads of each rank send a known number of messages at once, from the same lines of this file: always
 * nonblocking ones and, if there are two ranks, blocking and persistent ones. Prints for each function how often all
 * threads of all ranks called it, and with how many bytes:
 *
 *     truth FUNCTION CALLS BYTES_OUT BYTES_IN
 *     message FROM TO MESSAGES BYTES
 *
 * known_traffic ROUNDS */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { k_threads = 4, k_most_bytes = 70000, k_sizes = 5 };
static int const sizes[k_sizes] = {0, 8, 1000, 16384, k_most_bytes};

enum {
    send_call,
    recv_call,
    isend_call,
    irecv_call,
    waitall_call,
    wait_call,
    test_call,
    waitany_call,
    send_init_call,
    recv_init_call,
    start_call,
    startall_call,
    request_free_call,
    k_calls
};
static char const* const names[k_calls] = {
    "MPI_Send",    "MPI_Recv",      "MPI_Isend",     "MPI_Irecv", "MPI_Waitall",  "MPI_Wait",        "MPI_Test",
    "MPI_Waitany", "MPI_Send_init", "MPI_Recv_init", "MPI_Start", "MPI_Startall", "MPI_Request_free"};

typedef struct {
    unsigned long long calls[k_calls], out[k_calls], in[k_calls];
    unsigned long long messages, bytes; /* to the partner */
    int lane;
    char* outgoing;
    char* incoming;
} Lane;

static int rank, ranks, partner, rounds;

static void count(Lane* lane, int call, int out, int in) {
    ++lane->calls[call];
    lane->out[call] += (unsigned long long)out;
    lane->in[call] += (unsigned long long)in;
}
static void count_to_partner(Lane* lane, int call, int out) {
    count(lane, call, out, 0);
    ++lane->messages;
    lane->bytes += (unsigned long long)out;
}

static void blocking(Lane* lane, int bytes) {
    for (int turn = 0; turn < 2; ++turn) {
        if (turn == rank) {
            count_to_partner(lane, send_call, bytes);
            MPI_Send(lane->outgoing, bytes, MPI_CHAR, partner, lane->lane, MPI_COMM_WORLD);
        } else {
            count(lane, recv_call, 0, bytes);
            MPI_Recv(lane->incoming, bytes, MPI_CHAR, partner, lane->lane, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
}

/* Each round completes its requests in another way. */
static void nonblocking(Lane* lane, int round, int bytes) {
    MPI_Request open[2];
    count(lane, irecv_call, 0, bytes);
    MPI_Irecv(lane->incoming, bytes, MPI_CHAR, partner, lane->lane, MPI_COMM_WORLD, &open[0]);
    count_to_partner(lane, isend_call, bytes);
    MPI_Isend(lane->outgoing, bytes, MPI_CHAR, partner, lane->lane, MPI_COMM_WORLD, &open[1]);
    if (round % 4 == 0) {
        count(lane, waitall_call, 0, 0);
        MPI_Waitall(2, open, MPI_STATUSES_IGNORE);
        return;
    }
    for (int left = 2; left > 0; --left) {
        int which = left - 1;
        if (round % 4 == 1) {
            count(lane, waitany_call, 0, 0);
            MPI_Waitany(2, open, &which, MPI_STATUS_IGNORE);
        } else if (round % 4 == 2) {
            count(lane, wait_call, 0, 0);
            MPI_Wait(&open[which], MPI_STATUS_IGNORE);
        } else {
            for (int done = 0; !done;) {
                count(lane, test_call, 0, 0);
                MPI_Test(&open[which], &done, MPI_STATUS_IGNORE);
            }
        }
    }
}

static void persistent(Lane* lane, int bytes) {
    MPI_Request open[2];
    count(lane, recv_init_call, 0, 0);
    MPI_Recv_init(lane->incoming, bytes, MPI_CHAR, partner, lane->lane, MPI_COMM_WORLD, &open[0]);
    count(lane, send_init_call, 0, 0);
    MPI_Send_init(lane->outgoing, bytes, MPI_CHAR, partner, lane->lane, MPI_COMM_WORLD, &open[1]);
    for (int time = 0; time < 4; ++time) {
        if (time % 2 == 0) {
            count_to_partner(lane, startall_call, bytes);
            lane->in[startall_call] += (unsigned long long)bytes;
            MPI_Startall(2, open);
        } else {
            count(lane, start_call, 0, bytes);
            MPI_Start(&open[0]);
            count_to_partner(lane, start_call, bytes);
            MPI_Start(&open[1]);
        }
        count(lane, waitall_call, 0, 0);
        MPI_Waitall(2, open, MPI_STATUSES_IGNORE);
    }
    for (int i = 0; i < 2; ++i) {
        count(lane, request_free_call, 0, 0);
        MPI_Request_free(&open[i]);
    }
}

static void* run(void* argument) {
    Lane* lane = argument;
    lane->outgoing = malloc(k_most_bytes);
    lane->incoming = malloc(k_most_bytes);
    memset(lane->outgoing, lane->lane, k_most_bytes);
    for (int round = 0; round < rounds; ++round) {
        int bytes = sizes[(round + lane->lane) % k_sizes];
        nonblocking(lane, round, bytes);
        if (ranks == 2) blocking(lane, bytes);
        if (round % 16 == 0) persistent(lane, bytes);
    }
    free(lane->outgoing);
    free(lane->incoming);
    return NULL;
}

static void tell(Lane* lanes) {
    unsigned long long mine[3 * k_calls + 2] = {0};
    for (int i = 0; i < k_threads; ++i) {
        for (int call = 0; call < k_calls; ++call) {
            mine[3 * call] += lanes[i].calls[call];
            mine[3 * call + 1] += lanes[i].out[call];
            mine[3 * call + 2] += lanes[i].in[call];
        }
        mine[3 * k_calls] += lanes[i].messages;
        mine[3 * k_calls + 1] += lanes[i].bytes;
    }
    for (int call = 0; call < k_calls; ++call)
        printf("truth %s %llu %llu %llu\n", names[call], mine[3 * call], mine[3 * call + 1], mine[3 * call + 2]);
    printf("message %d %d %llu %llu\n", rank, partner, mine[3 * k_calls], mine[3 * k_calls + 1]);
    fflush(stdout);
}

int main(int argc, char** argv) {
    int provided = -1;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    rounds = argc > 1 ? atoi(argv[1]) : 500;
    partner = ranks - 1 - rank; /* a single rank is its own partner */
    if (provided != MPI_THREAD_MULTIPLE || ranks > 2) {
        if (rank == 0)
            printf("%s\n", ranks > 2 ? "known_traffic: wants 1 or 2 ranks"
                                     : "skipped: this MPI does not provide MPI_THREAD_MULTIPLE");
        MPI_Finalize();
        return ranks > 2;
    }
    Lane lanes[k_threads];
    memset(lanes, 0, sizeof lanes);
    pthread_t threads[k_threads];
    for (int i = 0; i < k_threads; ++i) {
        lanes[i].lane = i;
        pthread_create(&threads[i], NULL, run, &lanes[i]);
    }
    for (int i = 0; i < k_threads; ++i)
        pthread_join(threads[i], NULL);
    tell(lanes);
    MPI_Finalize();
    return 0;
}
