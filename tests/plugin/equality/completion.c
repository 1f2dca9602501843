/* SPDX-License-Identifier: BSD-3-Clause */
// Ways to complete requests, over lists that mix messages, collectives (one of them in place), the user's own requests,
// persistent ones that are not started, and null ones.
#include <stdlib.h>
#include <string.h>

#include "transcript.h"

enum { k_block = 4096, k_list = 7 };

// The buffers that a list of requests works on.
typedef struct {
    int* exchanged;  // in place, k_block for each pair
    double sum[2];
    int in[64];
    int out[64];
    int idle;
    MPI_Request requests[k_list];
    MPI_Request own;
} Work;

static int queries = 0;
static int frees = 0;
static int cancels = 0;

static int on_query(void* state, MPI_Status* status) {
    ++queries;
    MPI_Status_set_elements(status, MPI_INT, *(int*)state);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = 5;
    status->MPI_TAG = 6;
    return MPI_SUCCESS;
}
static int on_free(void* state) {
    (void)state;
    ++frees;
    return MPI_SUCCESS;
}
static int on_cancel(void* state, int complete) {
    (void)state;
    cancels += 1 + 10 * complete;
    return MPI_SUCCESS;
}

static int elements_of_own = 3;

static void start(Work* work, unsigned seed) {
    size_t bytes = sizeof(int) * (size_t)(k_block * ranks);
    work->exchanged = room(bytes);
    fill(work->exchanged, bytes, seed + (unsigned)me);
    fill(work->out, sizeof work->out, seed + 100 + (unsigned)me);
    memset(work->in, 0, sizeof work->in);
    work->sum[0] = me + 0.5;
    work->sum[1] = 0;
    work->idle = 0;
    int right = (me + 1) % ranks;
    int left = (me + ranks - 1) % ranks;
    MPI_Irecv(work->in, 64, MPI_INT, left, 3, MPI_COMM_WORLD, &work->requests[0]);
    MPI_Ialltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, work->exchanged, k_block, MPI_INT, MPI_COMM_WORLD,
                  &work->requests[1]);
    work->requests[2] = MPI_REQUEST_NULL;
    MPI_Iallreduce(&work->sum[0], &work->sum[1], 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &work->requests[3]);
    MPI_Recv_init(&work->idle, 1, MPI_INT, left, 4, MPI_COMM_WORLD, &work->requests[4]);
    MPI_Isend(work->out, 60, MPI_INT, right, 3, MPI_COMM_WORLD, &work->requests[5]);
    MPI_Grequest_start(on_query, on_free, on_cancel, &elements_of_own, &work->requests[6]);
    work->own = work->requests[6];
    MPI_Grequest_complete(work->own);
}

static void finish(Work* work) {
    say_bytes("exchanged", work->exchanged, sizeof(int) * (size_t)(k_block * ranks));
    say_bytes("received", work->in, sizeof work->in);
    say("sum %.1f", work->sum[1]);
    for (int i = 0; i < k_list; ++i) {
        if (i == 4) {
            say("the idle one stays: %d", work->requests[i] != MPI_REQUEST_NULL);
        } else {
            say("request %d is null: %d", i, work->requests[i] == MPI_REQUEST_NULL);
        }
    }
    MPI_Request_free(&work->requests[4]);
    free(work->exchanged);
}

// The status of a collective has no meaning; of the others every field is compared.
static void say_status_of(int index, MPI_Status const* status, int single) {
    if (index == 1 || index == 3) {
        if (single) say("collective %d: MPI_ERROR untouched %d", index, status->MPI_ERROR == k_untouched);
    } else if (single) {
        say("request %d:", index);
        if (index != 5) say_status("status", status, MPI_INT);
    } else if (index == 0 || index == 6) {
        say("request %d: source %d tag %d", index, status->MPI_SOURCE, status->MPI_TAG);
    }
}

static void by_wait(void) {
    Work work;
    start(&work, 1);
    for (int i = k_list - 1; i >= 0; --i) {
        MPI_Status status = untouched_status();
        CALL(MPI_Wait(&work.requests[i], &status));
        say_status_of(i, &status, 1);
    }
    finish(&work);
}

static void by_test(void) {
    Work work;
    start(&work, 2);
    for (int i = 0; i < k_list; ++i) {
        MPI_Status status = untouched_status();
        int flag = 0;
        while (!flag)
            MPI_Test(&work.requests[i], &flag, &status);
        say_status_of(i, &status, 1);
    }
    finish(&work);
}

static void by_waitall(int with_statuses) {
    Work work;
    MPI_Status statuses[k_list];
    for (int i = 0; i < k_list; ++i)
        statuses[i] = untouched_status();
    start(&work, 3);
    CALL(MPI_Waitall(k_list, work.requests, with_statuses ? statuses : MPI_STATUSES_IGNORE));
    for (int i = 0; with_statuses && i < k_list; ++i)
        say_status_of(i, &statuses[i], 0);
    finish(&work);
    CALL(MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE));
}

static void by_testall(void) {
    Work work;
    MPI_Status statuses[k_list];
    for (int i = 0; i < k_list; ++i)
        statuses[i] = untouched_status();
    start(&work, 4);
    int flag = 0;
    while (!flag)
        MPI_Testall(k_list, work.requests, &flag, statuses);
    for (int i = 0; i < k_list; ++i)
        say_status_of(i, &statuses[i], 0);
    finish(&work);
}

static void by_any(int test) {
    Work work;
    MPI_Status status;
    int seen[k_list] = {0};
    start(&work, 5);
    for (;;) {
        int index = -1;
        int flag = 1;
        status = untouched_status();
        if (test) {
            MPI_Testany(k_list, work.requests, &index, &flag, &status);
        } else {
            MPI_Waitany(k_list, work.requests, &index, &status);
        }
        if (!flag) continue;
        if (index == MPI_UNDEFINED) break;
        ++seen[index];
        if (index == 0 && (status.MPI_SOURCE != (me + ranks - 1) % ranks || status.MPI_TAG != 3)) seen[index] = 99;
        if (index == 6 && (status.MPI_SOURCE != 5 || status.MPI_TAG != 6)) seen[index] = 99;
        if (status.MPI_ERROR != k_untouched) say("request %d: MPI_ERROR written", index);
    }
    say_status("nothing left", &status, MPI_INT);
    say_ints("completed", seen, k_list);
    finish(&work);
}

static void by_some(int test) {
    Work work;
    MPI_Status statuses[k_list];
    int indices[k_list];
    int seen[k_list] = {0};
    start(&work, 6);
    for (;;) {
        int count = -1;
        for (int i = 0; i < k_list; ++i)
            statuses[i] = untouched_status();
        if (test) {
            MPI_Testsome(k_list, work.requests, &count, indices, statuses);
        } else {
            MPI_Waitsome(k_list, work.requests, &count, indices, statuses);
        }
        if (count == MPI_UNDEFINED) break;
        for (int i = 0; i < count; ++i) {
            ++seen[indices[i]];
            if (indices[i] == 6 && (statuses[i].MPI_SOURCE != 5 || statuses[i].MPI_TAG != 6)) seen[6] = 99;
            if (indices[i] == 0 && statuses[i].MPI_TAG != 3) seen[0] = 99;
        }
    }
    say_ints("completed", seen, k_list);
    finish(&work);
}

// Queries do not complete a request; then requests are freed and cancelled.
static void looks(void) {
    Work work;
    start(&work, 7);
    for (int i = 0; i < k_list; ++i) {
        MPI_Status status = untouched_status();
        int flag = 0;
        while (!flag)
            MPI_Request_get_status(work.requests[i], &flag, &status);
        if (i != 1 && i != 3 && i != 5) say_status("looked at", &status, MPI_INT);
        if (i == 2) continue;
        say("request %d still there: %d", i, work.requests[i] != MPI_REQUEST_NULL);
    }
    CALL(MPI_Waitall(k_list, work.requests, MPI_STATUSES_IGNORE));
    finish(&work);

    int never = 0;
    MPI_Request request;
    MPI_Status status = untouched_status();
    CALL(MPI_Irecv(&never, 1, MPI_INT, MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &request));
    CALL(MPI_Cancel(&request));
    CALL(MPI_Wait(&request, &status));
    int cancelled = 0;
    CALL(MPI_Test_cancelled(&status, &cancelled));
    say("cancelled: %d", cancelled);

    MPI_Barrier(MPI_COMM_WORLD);
    int out = me;
    int in = -1;
    if (ranks > 1) {  // MPICH 4.0.2 mixes up messages of a rank to itself if their requests were freed
        CALL(MPI_Isend(&out, 1, MPI_INT, (me + 1) % ranks, 8, MPI_COMM_WORLD, &request));
        CALL(MPI_Request_free(&request));
        CALL(MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        say("sent by a freed request: %d", in);
    }
    MPI_Barrier(MPI_COMM_WORLD);

    int state = 7;
    CALL(MPI_Grequest_start(on_query, on_free, on_cancel, &state, &request));
    int flag = -1;
    CALL(MPI_Test(&request, &flag, &status));
    say("own request done: %d", flag);
    CALL(MPI_Cancel(&request));
    CALL(MPI_Grequest_complete(request));
    CALL(MPI_Cancel(&request));
    status = untouched_status();
    CALL(MPI_Wait(&request, &status));
    say_status("own request", &status, MPI_INT);
    CALL(MPI_Grequest_start(on_query, on_free, on_cancel, &state, &request));
    MPI_Request copy = request;
    CALL(MPI_Request_free(&request));
    CALL(MPI_Grequest_complete(copy));
    // MPICH queries again each time that a request is tested, so only zero and non-zero are compared.
    say("callbacks: query %d free %d cancel %d", queries > 0, frees, cancels);
}

// Many in-place exchanges are under way at once and are completed in another order than they began.
static void many_at_once(void) {
    enum { k_many = 12, k_each = 1500 };
    size_t bytes = sizeof(double) * (size_t)(k_each * ranks);
    double* buffers[k_many];
    MPI_Request requests[k_many];
    for (int i = 0; i < k_many; ++i) {
        buffers[i] = room(bytes);
        fill(buffers[i], bytes, (unsigned)(100 * i + me));
        CALL(MPI_Ialltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, buffers[i], k_each, MPI_DOUBLE, MPI_COMM_WORLD,
                           &requests[i]));
    }
    CALL(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = k_many - 1; i >= 0; i -= 2)
        CALL(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
    CALL(MPI_Waitall(k_many, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < k_many; ++i) {
        say_bytes("exchanged", buffers[i], bytes);
        free(buffers[i]);
    }
}

int main(int argc, char** argv) {
    begin(&argc, &argv);
    by_wait();
    by_test();
    by_waitall(1);
    by_waitall(0);
    by_testall();
    by_any(0);
    by_any(1);
    by_some(0);
    by_some(1);
    looks();
    many_at_once();
    return end();
}
