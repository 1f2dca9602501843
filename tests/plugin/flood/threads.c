/* SPDX-License-Identifier: BSD-3-Clause */
// Four threads of each rank send to and receive from the next rank, each by a tag of its own, blocking and nonblocking.
#include <pthread.h>
#include <string.h>

#include "transcript.h"

enum { k_threads = 4, k_messages = 400, k_bytes = 700 };

static uint64_t sums[k_threads];

static void* exchange(void* argument) {
    int const tag = *(int*)argument;
    int const right = (me + 1) % ranks;
    int const left = (me + ranks - 1) % ranks;
    char out[k_bytes];
    char in[k_bytes];
    for (int i = 0; i < k_messages; ++i) {
        MPI_Request request = MPI_REQUEST_NULL;
        fill(out, sizeof out, (unsigned)(tag * 1000 + i));
        if (i % 2 == 0)
            MPI_Send(out, k_bytes, MPI_CHAR, right, tag, MPI_COMM_WORLD);
        else
            MPI_Isend(out, k_bytes, MPI_CHAR, right, tag, MPI_COMM_WORLD, &request);
        MPI_Recv(in, k_bytes, MPI_CHAR, left, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        sums[tag] = sums[tag] * 31 + checksum(in, sizeof in);
    }
    return NULL;
}

int main(int argc, char** argv) {
    int provided = 0;
    open_transcript("");
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    say("level %d", provided == MPI_THREAD_MULTIPLE);
    pthread_t threads[k_threads];
    int tags[k_threads];
    for (int i = 0; i < k_threads; ++i) {
        tags[i] = i;
        pthread_create(&threads[i], NULL, exchange, &tags[i]);
    }
    for (int i = 0; i < k_threads; ++i)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < k_threads; ++i)
        say("thread %d: %llx", i, (unsigned long long)sums[i]);
    return end();
}
