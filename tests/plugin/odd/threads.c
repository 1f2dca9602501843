/* SPDX-License-Identifier: BSD-3-Clause */
// Four threads send, exchange in place and wait at once, each on a communicator of its own.
#include <pthread.h>
#include <stdlib.h>

#include "transcript.h"

enum { k_threads = 4, k_rounds = 200, k_each = 3000 };

typedef struct {
    MPI_Comm comm;
    int index;
    uint64_t messages;
    uint64_t exchanged;
    int errors;
} Lane;

static void* run(void* argument) {
    Lane* lane = argument;
    int out[64];
    int in[64];
    size_t bytes = sizeof(int) * (size_t)(k_each * ranks);
    int* data = room(bytes);
    int right = (me + 1) % ranks;
    int left = (me + ranks - 1) % ranks;
    fill(data, bytes, (unsigned)(lane->index * 50 + me));
    for (int round = 0; round < k_rounds; ++round) {
        MPI_Request requests[2];
        MPI_Status statuses[2];
        for (int i = 0; i < 64; ++i)
            out[i] = me * 1000 + lane->index * 100 + round + i;
        // All threads use MPI_COMM_WORLD here; the tag tells their messages apart.
        MPI_Irecv(in, 64, MPI_INT, left, lane->index, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(out, 64, MPI_INT, right, lane->index, MPI_COMM_WORLD, &requests[1]);
        lane->errors += MPI_Waitall(2, requests, statuses) != MPI_SUCCESS;
        lane->errors += statuses[0].MPI_TAG != lane->index || statuses[0].MPI_SOURCE != left;
        lane->messages += checksum(in, sizeof in);
        if (round % 20 == 0) {
            MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, k_each, MPI_INT, lane->comm);
            MPI_Ialltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, k_each, MPI_INT, lane->comm, &requests[0]);
            int flag = 0;
            while (!flag)
                MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
        }
    }
    lane->exchanged = checksum(data, bytes);
    free(data);
    return NULL;
}

int main(int argc, char** argv) {
    int provided = -1;
    open_transcript("");
    CALL(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
    say("provided %d", provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    Lane lanes[k_threads] = {0};
    pthread_t threads[k_threads];
    for (int i = 0; i < k_threads; ++i) {
        lanes[i].index = i;
        MPI_Comm_dup(MPI_COMM_WORLD, &lanes[i].comm);
    }
    for (int i = 0; i < k_threads; ++i)
        pthread_create(&threads[i], NULL, run, &lanes[i]);
    for (int i = 0; i < k_threads; ++i)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < k_threads; ++i) {
        say("thread %d: messages %016llx exchanged %016llx errors %d", i, (unsigned long long)lanes[i].messages,
            (unsigned long long)lanes[i].exchanged, lanes[i].errors);
        CALL(MPI_Comm_free(&lanes[i].comm));
    }
    return end();
}
