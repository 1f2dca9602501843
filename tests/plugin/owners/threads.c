/* SPDX-License-Identifier: BSD-3-Clause */
// Threads that make and complete requests at the same time, each with a tag of its own: the MPI gives a handle that one
// thread has completed to another thread's next request. Under the tests' plugin every second thread's messages are
// two.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "transcript.h"

enum { k_threads = 4, k_rounds = 150, k_each = 300, k_pairs = 3 };

static int item(int rank, int thread, int round, int pair, int i) {
    return ((rank * 7 + thread) * 11 + round) * 13 + pair * 1000003 + i * 31;
}

static void complete(int round, MPI_Request* requests) {
    int const count = 2 * k_pairs;
    int index = 0;
    int flag = 0;
    int number = 0;
    int indices[2 * k_pairs];
    switch (round % 6) {
        case 0:
            MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
            break;
        case 1:
            while (index != MPI_UNDEFINED)
                MPI_Waitany(count, requests, &index, MPI_STATUS_IGNORE);
            break;
        case 2:
            while (number != MPI_UNDEFINED)
                MPI_Waitsome(count, requests, &number, indices, MPI_STATUSES_IGNORE);
            break;
        case 3:
            while (!flag)
                MPI_Testall(count, requests, &flag, MPI_STATUSES_IGNORE);
            break;
        case 4:
            while (!flag || index != MPI_UNDEFINED)
                MPI_Testany(count, requests, &index, &flag, MPI_STATUS_IGNORE);
            break;
        default:
            for (int i = 0; i < count; ++i)
                MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    }
}

static void* exchange(void* argument) {
    int const thread = *(int*)argument;
    int const tag = thread % 2 == 0 ? 370 + thread : 30 + thread;
    int const left = (me + ranks - 1) % ranks;
    int out[k_pairs][k_each];
    int in[k_pairs][k_each];
    MPI_Request requests[2 * k_pairs];
    int* const wrong = calloc(1, sizeof *wrong);
    if (wrong == NULL) abort();
    for (int round = 0; round < k_rounds; ++round) {
        memset(in, 0, sizeof in);
        for (int pair = 0; pair < k_pairs; ++pair) {
            for (int i = 0; i < k_each; ++i)
                out[pair][i] = item(me, thread, round, pair, i);
            MPI_Irecv(in[pair], k_each, MPI_INT, left, tag, MPI_COMM_WORLD, &requests[pair]);
            MPI_Isend(out[pair], k_each, MPI_INT, (me + 1) % ranks, tag, MPI_COMM_WORLD, &requests[k_pairs + pair]);
        }
        complete(round, requests);
        for (int pair = 0; pair < k_pairs; ++pair) {
            for (int i = 0; i < k_each; ++i)
                *wrong += in[pair][i] != item(left, thread, round, pair, i);
            *wrong += requests[pair] != MPI_REQUEST_NULL || requests[k_pairs + pair] != MPI_REQUEST_NULL;
        }
    }
    return wrong;
}

int main(int argc, char** argv) {
    int provided = 0;
    open_transcript("");
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    say("provided %d", provided == MPI_THREAD_MULTIPLE);
    pthread_t threads[k_threads];
    int numbers[k_threads];
    int all_wrong = 0;
    for (int i = 0; i < k_threads; ++i) {
        numbers[i] = i;
        if (pthread_create(&threads[i], NULL, exchange, &numbers[i]) != 0) abort();
    }
    for (int i = 0; i < k_threads; ++i) {
        void* wrong = NULL;
        pthread_join(threads[i], &wrong);
        say("thread %d: %d wrong", i, *(int*)wrong);
        all_wrong += *(int*)wrong;
        free(wrong);
    }
    int const code = end();
    return all_wrong > 0 ? 92 : code;
}
