/* SPDX-License-Identifier: BSD-3-Clause */
// Wrong calls on requests that Sluice owns. MPI refuses them before anything is completed, so the requests go on.
//
//   refused_owned in_place   MPICH's MPI_Ialltoallw in place
//   refused_owned sends      sends to a receiver that is late, some of them persistent
//   refused_owned in_two     the same (tag 3: the tests' plugin of ../owners splits them, so that MPI knows the handle
//                            of no communicator)
//
// The requests are those of a copy of MPI_COMM_WORLD; it is told which communicator's handler is called.
#include <string.h>
#include <unistd.h>

#include "transcript.h"

enum { k_list = 16, k_bytes = 900, k_block = 64, k_tag = 3 };

static MPI_Comm copy;
static MPI_Request list[k_list];
static int handled[3];  // on the copy, on MPI_COMM_WORLD, on MPI_COMM_SELF
static int tells_which = 1;

static void count(MPI_Comm* comm, int* code, ...) {
    (void)code;
    ++handled[!tells_which ? 0 : *comm == MPI_COMM_SELF ? 2 : *comm == MPI_COMM_WORLD ? 1 : 0];
}

#define REFUSED(expression)                                                                                \
    do {                                                                                                   \
        memset(handled, 0, sizeof handled);                                                                \
        CALL(expression);                                                                                  \
        say("handlers called: copy %d, world %d, self %d, request %s", handled[0], handled[1], handled[2], \
            list[0] == MPI_REQUEST_NULL ? "null" : "kept");                                                \
    } while (0)

static void by_ones(void) {
    int flag = 7;
    MPI_Status status = untouched_status();
    REFUSED(MPI_Test(&list[0], NULL, MPI_STATUS_IGNORE));
    REFUSED(MPI_Test(&list[0], NULL, &status));
    REFUSED(MPI_Request_get_status(list[0], NULL, &status));
#ifdef MPICH_VERSION  // for Open MPI a status of NULL is MPI_STATUS_IGNORE, and it reads what a request points to
    REFUSED(MPI_Test(&list[0], &flag, NULL));
    REFUSED(MPI_Wait(&list[0], NULL));
    REFUSED(MPI_Request_get_status(list[0], &flag, NULL));
    REFUSED(MPI_Wait(NULL, &status));
    REFUSED(MPI_Test(NULL, &flag, &status));
    REFUSED(MPI_Start(&list[0]));
#endif
    (void)flag;
}

static void by_lists(int n) {
    int flag = 7;
    int index = 7;
    int number = 7;
    int indices[k_list] = {0};
    MPI_Status statuses[k_list];
    for (int i = 0; i < k_list; ++i)
        statuses[i] = untouched_status();
    REFUSED(MPI_Testall(n, list, NULL, MPI_STATUSES_IGNORE));
    REFUSED(MPI_Testall(n, list, NULL, statuses));
    REFUSED(MPI_Testany(n, list, NULL, &flag, statuses));
    REFUSED(MPI_Testany(n, list, &index, NULL, statuses));
    REFUSED(MPI_Testsome(n, list, NULL, indices, statuses));
    REFUSED(MPI_Testsome(n, list, &number, NULL, statuses));
    REFUSED(MPI_Waitany(n, list, NULL, statuses));
    REFUSED(MPI_Waitsome(n, list, NULL, indices, statuses));
    REFUSED(MPI_Waitsome(n, list, &number, NULL, statuses));
    REFUSED(MPI_Waitall(-1, list, statuses));
    REFUSED(MPI_Waitany(-1, list, &index, statuses));
    REFUSED(MPI_Waitsome(-1, list, &number, indices, statuses));
    REFUSED(MPI_Testall(-1, list, &flag, statuses));
    REFUSED(MPI_Testany(-1, list, &index, &flag, statuses));
    REFUSED(MPI_Testsome(-1, list, &number, indices, statuses));
    REFUSED(MPI_Waitall(n, NULL, statuses));
    REFUSED(MPI_Startall(n, NULL));
    REFUSED(MPI_Startall(-1, list));
#ifdef MPICH_VERSION
    REFUSED(MPI_Waitall(n, list, NULL));
    REFUSED(MPI_Waitany(n, list, &index, NULL));
    REFUSED(MPI_Waitsome(n, list, &number, indices, NULL));
    REFUSED(MPI_Testall(n, list, &flag, NULL));
    REFUSED(MPI_Testany(n, list, &index, &flag, NULL));
    REFUSED(MPI_Testsome(n, list, &number, indices, NULL));
    MPI_Request const before = list[n - 1];
    list[n - 1] = (MPI_Request)0x2c00fff1;  // no request
    REFUSED(MPI_Waitall(n, list, statuses));
    REFUSED(MPI_Testany(n, list, &index, &flag, statuses));
    list[n - 1] = before;
#endif
}

static void by_partitions(void) {
#if MPI_VERSION >= 4
    int flag = 7;
    int partitions[1] = {0};
    REFUSED(MPI_Pready(0, list[0]));
    REFUSED(MPI_Pready_range(0, 0, list[0]));
    REFUSED(MPI_Pready_range(3, 1, list[0]));
    REFUSED(MPI_Pready_list(1, partitions, list[0]));
    REFUSED(MPI_Pready_list(1, NULL, list[0]));
    REFUSED(MPI_Pready_list(0, partitions, list[0]));
    REFUSED(MPI_Pready_list(-1, partitions, list[0]));
    REFUSED(MPI_Parrived(list[0], 0, &flag));
    REFUSED(MPI_Parrived(list[0], 0, NULL));
#endif
}

// In place: list[0] is the request; the others are null.
static void in_place(void) {
    static int data[4 * k_block];
    int counts[4];
    int places[4];
    MPI_Datatype types[4];
    for (int i = 0; i < ranks; ++i) {
        counts[i] = k_block;
        places[i] = i * k_block * 4;
        types[i] = MPI_INT;
    }
    fill(data, sizeof data, 3U + (unsigned)me);
    MPI_Ialltoallw(MPI_IN_PLACE, NULL, NULL, NULL, data, counts, places, types, copy, &list[0]);
    by_ones();
    by_lists(2);
    by_partitions();
    REFUSED(MPI_Request_free(&list[0]));
    MPI_Status status = untouched_status();
    CALL(MPI_Wait(&list[0], &status));
    say_bytes("after all", data, sizeof data);
}

static void receive_all(int many) {
    char data[k_bytes];
    MPI_Request request;
    usleep(20000);
    for (int i = 0; i < many; ++i) {
        MPI_Irecv(data, k_bytes, MPI_CHAR, 0, k_tag, copy, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        say_bytes("received", data, sizeof data);
    }
}

// The last ones are more than the share of the receiver.
static void send_many(MPI_Request* requests, int many) {
    static char data[k_list][k_bytes];
    for (int i = 0; i < many; ++i) {
        fill(data[i], k_bytes, (unsigned)i);
        if (i % 3 == 1) {
            MPI_Send_init(data[i], k_bytes, MPI_CHAR, 1, k_tag, copy, &requests[i]);
            MPI_Start(&requests[i]);
        } else {
            MPI_Isend(data[i], k_bytes, MPI_CHAR, 1, k_tag, copy, &requests[i]);
        }
    }
}

static void end_all(MPI_Request* requests, int many) {
    CALL(MPI_Waitall(many, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < many; ++i)
        if (requests[i] != MPI_REQUEST_NULL) MPI_Request_free(&requests[i]);
}

// A list of which one cannot be started: none is, and all are started by the next call.
static void start_lists(void) {
    static char data[k_list][k_bytes];
    for (int i = 0; i < k_list && me == 0; ++i) {
        fill(data[i], k_bytes, (unsigned)i);
        MPI_Send_init(data[i], k_bytes, MPI_CHAR, 1, k_tag, copy, &list[i]);
    }
    for (int round = 0; round < 3; ++round) {
        if (me == 1) {
            receive_all(k_list);
            continue;
        }
        MPI_Request const last = list[k_list - 1];
#ifdef MPICH_VERSION
        list[k_list - 1] = (MPI_Request)0x2c00fff1;
#else
        list[k_list - 1] = NULL;
#endif
        REFUSED(MPI_Startall(k_list, list));
        list[k_list - 1] = last;
        REFUSED(MPI_Startall(k_list, list));
#ifdef MPICH_VERSION  // Open MPI 4.1.4 starts what is active
        REFUSED(MPI_Startall(k_list, list));
#endif
        CALL(MPI_Waitall(k_list, list, MPI_STATUSES_IGNORE));
    }
    for (int i = 0; i < k_list && me == 0; ++i)
        MPI_Request_free(&list[i]);
}

// Calls that send and receive, of which the receiving half is wrong: nothing is sent.
static void wrong_halves(void) {
    enum { k_halves = 6, k_sent = 40, k_other_tag = 5 };
    char out[k_bytes] = {0};
    char in[k_bytes];
    MPI_Datatype loose;
    MPI_Type_contiguous(2, MPI_INT, &loose);
    for (int i = 0; i < k_sent; ++i) {
        if (me == 1) {
            MPI_Recv(in, k_bytes, MPI_CHAR, 0, k_other_tag, copy, MPI_STATUS_IGNORE);
            continue;
        }
        int const source = i % k_halves == 2 ? 1234 : 1;
        int const tag = i % k_halves >= 3 ? -77 : 4;
        int const number = i % k_halves == 1 ? -1 : 1;
        if (i % k_halves < 5)
            REFUSED(MPI_Sendrecv(out, k_bytes, MPI_CHAR, 1, k_tag, in, number, i % k_halves == 0 ? loose : MPI_CHAR,
                                 source, tag, copy, MPI_STATUS_IGNORE));
        else
            REFUSED(MPI_Sendrecv_replace(out, k_bytes, MPI_CHAR, 1, k_tag, 1234, 4, copy, MPI_STATUS_IGNORE));
        MPI_Send(out, k_bytes, MPI_CHAR, 1, k_other_tag, copy);
    }
    MPI_Type_free(&loose);
    MPI_Barrier(copy);
    int found = 0;
    for (int look = 0; look < 100 && !found; ++look)
        MPI_Iprobe(MPI_ANY_SOURCE, k_tag, copy, &found, MPI_STATUS_IGNORE);
    say("a message came: %d", found);
}

static void sends(void) {
    void (*const ways[])(void) = {by_ones, by_partitions};
    for (int round = 0; round < 3; ++round) {
        if (me == 1) {
            receive_all(k_list);
            continue;
        }
        send_many(list, k_list);
        if (round == 2) by_lists(k_list);
        for (int i = 0; i < k_list && round < 2; ++i) {
            MPI_Request const first = list[0];
            list[0] = list[i];
            ways[round]();
            list[0] = first;
        }
        end_all(list, k_list);
    }
}

int main(int argc, char** argv) {
    begin(&argc, &argv);
    MPI_Errhandler counting;
    MPI_Comm_create_errhandler(count, &counting);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_set_errhandler(copy, counting);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, counting);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, counting);
    for (int i = 0; i < k_list; ++i)
        list[i] = MPI_REQUEST_NULL;
    tells_which = strcmp(argv[1], "in_two") != 0;
    if (strcmp(argv[1], "in_place") == 0) {
        in_place();
    } else {
        sends();
        start_lists();
        wrong_halves();
    }
    MPI_Comm_free(&copy);
    MPI_Errhandler_free(&counting);
    return end();
}
