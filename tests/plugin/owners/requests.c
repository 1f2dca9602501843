/* SPDX-License-Identifier: BSD-3-Clause */
// Requests of messages, in every call that takes requests, mixed with null ones, persistent ones and requests that no
// service owns (tag 20). Under the tests' plugin each message with a tag from 300 on is two messages.
#include <stdlib.h>
#include <string.h>

#include "transcript.h"

enum { k_list = 8, k_most = 3000, k_ways = 8 };

typedef struct {
    int out[k_list][k_most];
    int in[k_list][k_most];
    MPI_Request requests[k_list];
} Ring;

static int left(void) {
    return (me + ranks - 1) % ranks;
}
static int right(void) {
    return (me + 1) % ranks;
}

/// Places 0, 1, 2 receive, 4, 5, 6 send, 3 is null, 7 is persistent and idle. Place 1 and 5 have no owner.
static void make(Ring* ring, unsigned seed, int synchronous) {
    for (int i = 0; i < k_list; ++i)
        fill(ring->out[i], sizeof ring->out[i], seed + (unsigned)(i + 10 * me));
    memset(ring->in, 0, sizeof ring->in);
    int const counts[3] = {1, 2000, k_most - 1};
    int const tags[3] = {300, 20, 302};
    for (int i = 0; i < 3; ++i) {
        MPI_Irecv(ring->in[i], k_most, MPI_INT, left(), tags[i], MPI_COMM_WORLD, &ring->requests[i]);
        if (synchronous) {
            MPI_Issend(ring->out[i], counts[i], MPI_INT, right(), tags[i], MPI_COMM_WORLD, &ring->requests[4 + i]);
        } else {
            MPI_Isend(ring->out[i], counts[i], MPI_INT, right(), tags[i], MPI_COMM_WORLD, &ring->requests[4 + i]);
        }
    }
    ring->requests[3] = MPI_REQUEST_NULL;
    MPI_Recv_init(ring->in[7], 4, MPI_INT, left(), 310, MPI_COMM_WORLD, &ring->requests[7]);
}

static void say_found(int index, MPI_Status const* status) {
    if (index < 3 || index == 7) say_status("message", status, MPI_INT);
}

static void all_by_some(Ring* ring, int test) {
    MPI_Status statuses[k_list];
    MPI_Status of[k_list];
    int indices[k_list];
    int number = 0;
    for (;;) {
        for (int i = 0; i < k_list; ++i)
            statuses[i] = untouched_status();
        if (test) {
            MPI_Testsome(k_list, ring->requests, &number, indices, statuses);
        } else {
            MPI_Waitsome(k_list, ring->requests, &number, indices, statuses);
        }
        if (number == MPI_UNDEFINED) break;
        if (!test && number < 1) say("Waitsome found none");
        for (int i = 0; i < number; ++i)
            of[indices[i]] = statuses[i];
    }
    for (int i = 0; i < 3; ++i)
        say("message %d: source %d tag %d", i, of[i].MPI_SOURCE, of[i].MPI_TAG);
}

static void all_by_any(Ring* ring, int test) {
    MPI_Status of[k_list];
    int seen[k_list] = {0};
    for (;;) {
        int index = -1;
        int flag = 1;
        MPI_Status status = untouched_status();
        if (test) {
            MPI_Testany(k_list, ring->requests, &index, &flag, &status);
        } else {
            MPI_Waitany(k_list, ring->requests, &index, &status);
        }
        if (!flag) continue;
        if (index == MPI_UNDEFINED) break;
        ++seen[index];
        of[index] = status;
    }
    say_ints("completed", seen, k_list);
    for (int i = 0; i < 3; ++i)
        say_found(i, &of[i]);
}

static void complete(Ring* ring, int way) {
    MPI_Status statuses[k_list];
    int flag = 0;
    for (int i = 0; i < k_list; ++i)
        statuses[i] = untouched_status();
    switch (way) {
        case 0:
            for (int i = k_list - 1; i >= 0; --i) {
                MPI_Wait(&ring->requests[i], &statuses[i]);
                say_found(i, &statuses[i]);
            }
            break;
        case 1:
            MPI_Waitall(k_list, ring->requests, statuses);
            for (int i = 0; i < 3; ++i)
                say("message %d: source %d tag %d", i, statuses[i].MPI_SOURCE, statuses[i].MPI_TAG);
            break;
        case 2:
            all_by_any(ring, 0);
            break;
        case 3:
            all_by_some(ring, 0);
            break;
        case 4:
            for (int i = 0; i < k_list; ++i) {
                for (flag = 0; !flag;)
                    MPI_Test(&ring->requests[i], &flag, &statuses[i]);
                say_found(i, &statuses[i]);
            }
            break;
        case 5:
            while (!flag)
                MPI_Testall(k_list, ring->requests, &flag, MPI_STATUSES_IGNORE);
            break;
        case 6:
            all_by_any(ring, 1);
            break;
        default:
            all_by_some(ring, 1);
    }
}

static void every_way(int way) {
    static Ring ring;
    say("way %d", way);
    make(&ring, (unsigned)way, way % 2);
    complete(&ring, way);
    for (int i = 0; i < k_list; ++i)
        say("request %d is null: %d", i, ring.requests[i] == MPI_REQUEST_NULL);
    say_bytes("received", ring.in, sizeof ring.in);
    CALL(MPI_Request_free(&ring.requests[7]));
    say("freed: %d", ring.requests[7] == MPI_REQUEST_NULL);
}

// Started one by one and all at once, with one that no service owns between them.
static void persistent(void) {
    static int out[3][500];
    static int in[3][500];
    MPI_Request requests[6];
    for (int i = 0; i < 3; ++i) {
        int tag = i == 1 ? 21 : 320 + i;
        MPI_Recv_init(in[i], 500, MPI_INT, left(), tag, MPI_COMM_WORLD, &requests[i]);
        if (i == 2) {
            MPI_Ssend_init(out[i], 400, MPI_INT, right(), tag, MPI_COMM_WORLD, &requests[3 + i]);
        } else {
            MPI_Send_init(out[i], 400, MPI_INT, right(), tag, MPI_COMM_WORLD, &requests[3 + i]);
        }
    }
    for (int round = 0; round < 4; ++round) {
        fill(out, sizeof out, (unsigned)(round + 100 * me));
        MPI_Status status = untouched_status();
        int flag = -1;
        CALL(MPI_Test(&requests[0], &flag, &status));
        say_status("inactive", &status, MPI_INT);
        if (round % 2 == 0) {
            CALL(MPI_Startall(6, requests));
        } else {
            for (int i = 0; i < 6; ++i)
                MPI_Start(&requests[i]);
        }
        status = untouched_status();
        CALL(MPI_Wait(&requests[0], &status));
        say_status("started", &status, MPI_INT);
        if (round < 2) {
            CALL(MPI_Waitall(6, requests, MPI_STATUSES_IGNORE));
        } else {
            int number = 0;
            int indices[6];
            while (number != MPI_UNDEFINED)
                MPI_Waitsome(6, requests, &number, indices, MPI_STATUSES_IGNORE);
        }
        say_bytes("received", in, sizeof in);
    }
    for (int i = 0; i < 6; ++i)
        CALL(MPI_Request_free(&requests[i]));
}

static void errors(void) {
    int out[10] = {0};
    int in[4];
    MPI_Request requests[3];
    MPI_Status statuses[3];
    for (int way = 0; way < 4; ++way) {
        MPI_Irecv(in, 4, MPI_INT, left(), 330, MPI_COMM_WORLD, &requests[0]);
        requests[1] = MPI_REQUEST_NULL;
        MPI_Isend(out, 10, MPI_INT, right(), 330, MPI_COMM_WORLD, &requests[2]);
        int index = -1;
        int number = -1;
        for (int i = 0; i < 3; ++i)
            statuses[i] = untouched_status();
        if (way == 0) CALL(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
        if (way == 1) CALL(MPI_Waitany(1, requests, &index, MPI_STATUS_IGNORE));
        if (way == 2) CALL(MPI_Waitsome(1, requests, &number, &index, statuses));
        if (way == 3) CALL(MPI_Waitall(1, requests, statuses));
        int class = -1;
        if (way >= 2) MPI_Error_class(statuses[0].MPI_ERROR, &class);
        say("way %d: number %d index %d error class in status %d", way, number, index, class);
        MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    }
}

static void looked_at_cancelled_and_freed(void) {
    static int out[100];
    static int in[100];
    MPI_Request requests[2];
    MPI_Status status = untouched_status();
    int flag = 0;
    MPI_Irecv(in, 100, MPI_INT, MPI_ANY_SOURCE, 340, MPI_COMM_WORLD, &requests[0]);
    CALL(MPI_Request_get_status(requests[0], &flag, MPI_STATUS_IGNORE));
    say("nothing sent, looked at: %d", flag);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Isend(out, 90, MPI_INT, right(), 340, MPI_COMM_WORLD, &requests[1]);
    for (flag = 0; !flag;)
        MPI_Request_get_status(requests[0], &flag, &status);
    say_status("looked at", &status, MPI_INT);
    CALL(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));

    MPI_Irecv(in, 100, MPI_INT, left(), 341, MPI_COMM_WORLD, &requests[0]);
    CALL(MPI_Cancel(&requests[0]));
    CALL(MPI_Wait(&requests[0], &status));
    int cancelled = 0;
    MPI_Test_cancelled(&status, &cancelled);
    say("cancelled: %d", cancelled);

    if (ranks > 1) {  // MPICH 4.0.2 mixes up messages to oneself whose requests were freed
        for (int i = 0; i < 20; ++i) {
            MPI_Irecv(in, 100, MPI_INT, left(), 342, MPI_COMM_WORLD, &requests[0]);
            out[0] = i + 100 * me;
            MPI_Isend(out, 100, MPI_INT, right(), 342, MPI_COMM_WORLD, &requests[1]);
            MPI_Request_free(&requests[1]);
            MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
            if (in[0] != i + 100 * left() || requests[1] != MPI_REQUEST_NULL) say("round %d got %d", i, in[0]);
            MPI_Barrier(MPI_COMM_WORLD);  // then the message has left
        }
    }
}

static MPI_Request pending[2];

static int on_copy(MPI_Comm comm, int key, void* extra, void* value, void* copy, int* flag) {
    (void)comm, (void)key, (void)extra, (void)value;
    int const code = MPI_Waitall(2, pending, MPI_STATUSES_IGNORE);
    say("in a callback: %s", code == MPI_SUCCESS ? "success" : "an error");
    *(void**)copy = NULL;
    *flag = 0;
    return MPI_SUCCESS;
}

static void completed_in_a_callback(void) {
    static int out[50];
    static int in[50];
    int key = MPI_KEYVAL_INVALID;
    MPI_Comm comm = MPI_COMM_NULL;
    fill(out, sizeof out, (unsigned)me);
    MPI_Comm_create_keyval(on_copy, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
    MPI_Irecv(in, 50, MPI_INT, left(), 350, MPI_COMM_WORLD, &pending[0]);
    MPI_Isend(out, 50, MPI_INT, right(), 350, MPI_COMM_WORLD, &pending[1]);
    CALL(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    say("null: %d %d", pending[0] == MPI_REQUEST_NULL, pending[1] == MPI_REQUEST_NULL);
    say_bytes("received", in, sizeof in);
    MPI_Comm_free(&comm);
    MPI_Comm_delete_attr(MPI_COMM_SELF, key);
    MPI_Comm_free_keyval(&key);
}

#if MPI_VERSION >= 4
static void partitioned(void) {
    enum { k_partitions = 6, k_each = 40 };
    static int out[k_partitions * k_each];
    static int in[k_partitions * k_each];
    MPI_Request requests[2];
    MPI_Precv_init(in, k_partitions, k_each, MPI_INT, left(), 360, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    MPI_Psend_init(out, k_partitions, k_each, MPI_INT, right(), 360, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
    for (int round = 0; round < 3; ++round) {
        fill(out, sizeof out, (unsigned)(round + 50 * me));
        memset(in, 0, sizeof in);
        MPI_Startall(2, requests);
        int list[2] = {4, 1};
        CALL(MPI_Pready(5, requests[1]));
        CALL(MPI_Pready_range(2, 3, requests[1]));
        CALL(MPI_Pready_list(2, list, requests[1]));
        CALL(MPI_Pready(0, requests[1]));
        for (int flag = 0; !flag;)
            MPI_Parrived(requests[0], 3, &flag);
        CALL(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        say_bytes("partitions", in, sizeof in);
    }
    CALL(MPI_Request_free(&requests[0]));
    CALL(MPI_Request_free(&requests[1]));
}
#endif

int main(int argc, char** argv) {
    begin(&argc, &argv);
    for (int way = 0; way < k_ways; ++way)
        every_way(way);
    persistent();
    errors();
    looked_at_cancelled_and_freed();
    completed_in_a_callback();
#if MPI_VERSION >= 4
    if (ranks > 1) partitioned();
#endif
    return end();
}
