/* SPDX-License-Identifier: BSD-3-Clause */
// Messages between two ranks: every send mode, orders, wildcards, probes, persistent requests, exchanges.
#include <stdlib.h>
#include <string.h>

#include "transcript.h"

static int right(void) {
    return (me + 1) % ranks;
}
static int left(void) {
    return (me + ranks - 1) % ranks;
}

// Messages of one sender to one receiver do not overtake each other, however they are received.
static void orders(void) {
    enum { k_messages = 12 };
    int value = -1;
    MPI_Request requests[k_messages];
    for (int i = 0; i < k_messages; ++i) {
        int* text = room(sizeof(int) * 2);
        text[0] = me;
        text[1] = i;
        MPI_Isend(text, 2, MPI_INT, 0, i % 3, MPI_COMM_WORLD, &requests[i]);
    }
    if (me == 0) {
        for (int source = ranks - 1; source >= 0; --source) {
            for (int i = 0; i < k_messages / 2; ++i) {
                int pair[2] = {-1, -1};
                MPI_Status status = untouched_status();
                CALL(MPI_Recv(pair, 2, MPI_INT, source, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
                say_status("any tag", &status, MPI_INT);
                say_ints("received", pair, 2);
            }
        }
        // With any source, the order of the senders is open, but not the order of each sender's messages.
        int* last = room(sizeof(int) * (size_t)ranks);
        int ordered = 1;
        for (int i = 0; i < ranks; ++i)
            last[i] = k_messages / 2 - 1;
        for (int i = 0; i < ranks * (k_messages / 2); ++i) {
            int pair[2] = {-1, -1};
            MPI_Status status = untouched_status();
            MPI_Recv(pair, 2, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
            value = status.MPI_SOURCE;
            ordered = ordered && pair[0] == value && pair[1] == last[value] + 1 && status.MPI_TAG == pair[1] % 3 &&
                      status.MPI_ERROR == k_untouched;
            last[value] = pair[1];
        }
        say("from anywhere in order: %d", ordered);
        free(last);
    }
    CALL(MPI_Waitall(k_messages, requests, MPI_STATUSES_IGNORE));  // the texts are printed at the end of the program
}

static void modes(size_t bytes) {
    char* out = room(bytes);
    char* in = room(bytes + 16);
    int n = (int)bytes;
    for (int mode = 0; mode < 6; ++mode) {
        MPI_Request receive;
        MPI_Request send = MPI_REQUEST_NULL;
        MPI_Status status = untouched_status();
        fill(out, bytes, (unsigned)(me * 10 + mode));
        memset(in, 3, bytes + 16);
        CALL(MPI_Irecv(in, n + 16, MPI_CHAR, left(), 40 + mode, MPI_COMM_WORLD, &receive));
        MPI_Barrier(MPI_COMM_WORLD);  // ready sends need the receive to be posted first
        switch (mode) {
            case 0:
                CALL(MPI_Isend(out, n, MPI_CHAR, right(), 40, MPI_COMM_WORLD, &send));
                break;
            case 1:
                CALL(MPI_Issend(out, n, MPI_CHAR, right(), 41, MPI_COMM_WORLD, &send));
                break;
            case 2:
                CALL(MPI_Irsend(out, n, MPI_CHAR, right(), 42, MPI_COMM_WORLD, &send));
                break;
            case 3:
                CALL(MPI_Ibsend(out, n, MPI_CHAR, right(), 43, MPI_COMM_WORLD, &send));
                break;
            case 4:
                CALL(MPI_Rsend(out, n, MPI_CHAR, right(), 44, MPI_COMM_WORLD));
                break;
            default:
                CALL(MPI_Bsend(out, n, MPI_CHAR, right(), 45, MPI_COMM_WORLD));
                break;
        }
        CALL(MPI_Wait(&receive, &status));
        say_status("received", &status, MPI_CHAR);
        say_bytes("data", in, bytes + 16);
        CALL(MPI_Wait(&send, MPI_STATUS_IGNORE));
        say("null again: %d", send == MPI_REQUEST_NULL && receive == MPI_REQUEST_NULL);
    }
    if (ranks > 1) {  // blocking calls, so even ranks go first
        MPI_Status status = untouched_status();
        if (me % 2 == 0 && me + 1 < ranks) {
            CALL(MPI_Send(out, n, MPI_CHAR, me + 1, 50, MPI_COMM_WORLD));
            CALL(MPI_Ssend(out, n, MPI_CHAR, me + 1, 51, MPI_COMM_WORLD));
        } else if (me % 2 == 1) {
            CALL(MPI_Recv(in, n, MPI_CHAR, me - 1, 50, MPI_COMM_WORLD, &status));
            CALL(MPI_Recv(in, n, MPI_CHAR, MPI_ANY_SOURCE, 51, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            say_status("blocking", &status, MPI_CHAR);
            say_bytes("data", in, bytes);
        }
    }
    free(out);
    free(in);
}

static void probes(void) {
    int out[4] = {me, me + 1, me + 2, me + 3};
    int in[4] = {0};
    int flag = -1;
    MPI_Request request;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status = untouched_status();
    CALL(MPI_Iprobe(MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &flag, &status));
    say("nothing is there: %d", flag);
    MPI_Request sends[4];
    for (int i = 0; i < 4; ++i)
        CALL(MPI_Isend(out, i + 1, MPI_INT, right(), 60, MPI_COMM_WORLD, &sends[i]));

    status = untouched_status();
    CALL(MPI_Probe(left(), MPI_ANY_TAG, MPI_COMM_WORLD, &status));
    say_status("probe", &status, MPI_INT);
    CALL(MPI_Recv(in, 1, MPI_INT, left(), 60, MPI_COMM_WORLD, MPI_STATUS_IGNORE));

    status = untouched_status();
    for (flag = 0; !flag;)
        MPI_Iprobe(MPI_ANY_SOURCE, 60, MPI_COMM_WORLD, &flag, &status);
    say_status("iprobe", &status, MPI_INT);
    CALL(MPI_Recv(in, 2, MPI_INT, left(), 60, MPI_COMM_WORLD, MPI_STATUS_IGNORE));

    status = untouched_status();
    CALL(MPI_Mprobe(MPI_ANY_SOURCE, 60, MPI_COMM_WORLD, &message, &status));
    say_status("mprobe", &status, MPI_INT);
    status = untouched_status();
    CALL(MPI_Mrecv(in, 4, MPI_INT, &message, &status));
    say_status("mrecv", &status, MPI_INT);
    say("message is null: %d", message == MPI_MESSAGE_NULL);

    status = untouched_status();
    for (flag = 0; !flag;)
        MPI_Improbe(left(), 60, MPI_COMM_WORLD, &flag, &message, &status);
    say_status("improbe", &status, MPI_INT);
    CALL(MPI_Imrecv(in, 4, MPI_INT, &message, &request));
    status = untouched_status();
    CALL(MPI_Wait(&request, &status));
    say_status("imrecv", &status, MPI_INT);
    say_ints("data", in, 4);
    CALL(MPI_Waitall(4, sends, MPI_STATUSES_IGNORE));

    status = untouched_status();
    CALL(MPI_Mprobe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &message, &status));
    say("message of MPI_PROC_NULL: %d", message == MPI_MESSAGE_NO_PROC);
    say("MPI_PROC_NULL: %d %d", status.MPI_SOURCE == MPI_PROC_NULL, status.MPI_TAG == MPI_ANY_TAG);
    CALL(MPI_Mrecv(in, 4, MPI_INT, &message, MPI_STATUS_IGNORE));
}

static void exchanges(void) {
    double out[100];
    double in[100];
    MPI_Status status = untouched_status();
    fill(out, sizeof out, (unsigned)me);
    CALL(MPI_Sendrecv(out, 100, MPI_DOUBLE, right(), 1, in, 100, MPI_DOUBLE, left(), 1, MPI_COMM_WORLD, &status));
    say_status("sendrecv", &status, MPI_DOUBLE);
    say_bytes("data", in, sizeof in);
    status = untouched_status();
    CALL(MPI_Sendrecv_replace(out, 90, MPI_DOUBLE, left(), 2, right(), MPI_ANY_TAG, MPI_COMM_WORLD, &status));
    say_status("replace", &status, MPI_DOUBLE);
    say_bytes("data", out, sizeof out);

    status = untouched_status();
    CALL(MPI_Recv(in, 5, MPI_DOUBLE, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &status));
    say_status("from MPI_PROC_NULL", &status, MPI_DOUBLE);
    CALL(MPI_Send(out, 5, MPI_DOUBLE, MPI_PROC_NULL, 3, MPI_COMM_WORLD));
    status = untouched_status();
    CALL(MPI_Sendrecv(out, 1, MPI_DOUBLE, MPI_PROC_NULL, 1, in, 1, MPI_DOUBLE, MPI_PROC_NULL, 1, MPI_COMM_WORLD,
                      &status));
    say_status("MPI_PROC_NULL both ways", &status, MPI_DOUBLE);

    MPI_Request request;
    int self = 41;
    int got = 0;
    CALL(MPI_Irecv(&got, 1, MPI_INT, 0, 9, MPI_COMM_SELF, &request));
    CALL(MPI_Send(&self, 1, MPI_INT, 0, 9, MPI_COMM_SELF));
    CALL(MPI_Wait(&request, MPI_STATUS_IGNORE));
    say("to myself: %d", got);
}

static void persistent(void) {
    int out[5][300];
    int in[5][300];
    MPI_Request requests[10];
    MPI_Status statuses[10];
    for (int i = 0; i < 5; ++i)
        CALL(MPI_Recv_init(in[i], 300, MPI_INT, left(), i, MPI_COMM_WORLD, &requests[i]));
    CALL(MPI_Send_init(out[0], 300, MPI_INT, right(), 0, MPI_COMM_WORLD, &requests[5]));
    CALL(MPI_Bsend_init(out[1], 200, MPI_INT, right(), 1, MPI_COMM_WORLD, &requests[6]));
    CALL(MPI_Ssend_init(out[2], 100, MPI_INT, right(), 2, MPI_COMM_WORLD, &requests[7]));
    CALL(MPI_Rsend_init(out[3], 50, MPI_INT, right(), 3, MPI_COMM_WORLD, &requests[8]));
    CALL(MPI_Send_init(out[4], 0, MPI_INT, right(), 4, MPI_COMM_WORLD, &requests[9]));
    for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < 10; ++i)
            statuses[i] = untouched_status();
        memset(in, 0, sizeof in);
        fill(out, sizeof out, (unsigned)(me + round * 100));
        CALL(MPI_Startall(5, requests));
        MPI_Barrier(MPI_COMM_WORLD);
        if (round == 0) {
            for (int i = 5; i < 10; ++i)
                CALL(MPI_Start(&requests[i]));
        } else {
            CALL(MPI_Startall(5, requests + 5));
        }
        CALL(MPI_Waitall(10, requests, statuses));
        for (int i = 0; i < 5; ++i) {
            say("source %d tag %d", statuses[i].MPI_SOURCE, statuses[i].MPI_TAG);
            say_bytes("data", in[i], sizeof in[i]);
        }
        int alive = 1;
        for (int i = 0; i < 10; ++i)
            alive = alive && requests[i] != MPI_REQUEST_NULL;
        say("requests stay: %d", alive);
    }
    MPI_Status status = untouched_status();
    CALL(MPI_Wait(&requests[0], &status));  // an inactive request gives the empty status
    say_status("inactive", &status, MPI_INT);
    for (int i = 0; i < 10; ++i)
        CALL(MPI_Request_free(&requests[i]));
    say("freed: %d", requests[0] == MPI_REQUEST_NULL);
}

static void clocks(void) {
    double before = MPI_Wtime();
    int monotone = 1;
    for (int i = 0; i < 1000; ++i) {
        double now = MPI_Wtime();
        monotone = monotone && now >= before;
        before = now;
    }
    say("time goes on: %d, tick positive: %d", monotone, MPI_Wtick() > 0.0);
}

int main(int argc, char** argv) {
    begin(&argc, &argv);
    int attached_bytes = (8 << 20) + 100 * MPI_BSEND_OVERHEAD;
    void* attached = room((size_t)attached_bytes);
    CALL(MPI_Buffer_attach(attached, attached_bytes));
    orders();
    size_t const sizes[] = {0, 1, 8, 4096, 65536, 1 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i)
        modes(sizes[i]);
    probes();
    exchanges();
    persistent();
    clocks();
    void* detached = NULL;
    int detached_bytes = 0;
    CALL(MPI_Buffer_detach(&detached, &detached_bytes));
    say("buffer back: %d, whole: %d", detached == attached, detached_bytes == attached_bytes);
    free(attached);
    return end();
}
