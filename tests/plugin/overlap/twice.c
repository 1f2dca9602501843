/* SPDX-License-Identifier: BSD-3-Clause */
// A buffer that is used twice at once: a receive into what a send still reads, or another receive still fills. MPI
// forbids it, and some programs do it. Both MPIs bring such a program to its end, so it ends with early returns, too.
// All messages have the same bytes, so the result is the same whatever comes first.
#include <stdio.h>

#include "pending.h"
#include "transcript.h"

enum { k_bytes = 1 << 20, k_sends = 4 };
static unsigned char* buffer;
static int tag;

static void begin_case(char const* name) {
    say("-- %s", name);
    ++tag;
    MPI_Barrier(MPI_COMM_WORLD);
}

static void receive(void) {
    MPI_Status status = untouched_status();
    MPI_Recv(buffer, k_bytes, MPI_BYTE, partner(), tag, MPI_COMM_WORLD, &status);
    say_status("received", &status, MPI_BYTE);
}

static void start_send(MPI_Request* request) {
    MPI_Isend(buffer, k_bytes, MPI_BYTE, partner(), tag, MPI_COMM_WORLD, request);
}

static void start_receive(MPI_Request* request) {
    MPI_Irecv(buffer, k_bytes, MPI_BYTE, partner(), tag, MPI_COMM_WORLD, request);
}

static void finish(MPI_Request* requests, int n) {
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
    say_bytes("all", buffer, k_bytes);
}

static void sends_then_receives(void) {
    MPI_Request requests[k_sends];
    begin_case("nonblocking sends, then receives");
    for (int i = 0; i < k_sends; ++i)
        start_send(&requests[i]);
    for (int i = 0; i < k_sends; ++i)
        receive();
    finish(requests, k_sends);
}

static void send_then_started_receive(void) {
    MPI_Request requests[2];
    begin_case("a nonblocking send, then a nonblocking receive");
    start_send(&requests[0]);
    start_receive(&requests[1]);
    finish(requests, 2);
}

static void started_receive_then_send(void) {
    MPI_Request requests[2];
    begin_case("a nonblocking receive, then a nonblocking send");
    start_receive(&requests[0]);
    start_send(&requests[1]);
    finish(requests, 2);
}

static void started_receive_then_blocking_send(void) {
    MPI_Request request;
    begin_case("a nonblocking receive, then a blocking send");
    start_receive(&request);
    MPI_Send(buffer, k_bytes, MPI_BYTE, partner(), tag, MPI_COMM_WORLD);
    finish(&request, 1);
}

static void persistent_send_then_receive(void) {
    MPI_Request request;
    begin_case("a persistent send, then a receive");
    MPI_Send_init(buffer, k_bytes, MPI_BYTE, partner(), tag, MPI_COMM_WORLD, &request);
    MPI_Start(&request);
    receive();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
    say_bytes("all", buffer, k_bytes);
}

static void two_receives(void) {
    MPI_Request requests[5];
    unsigned char* others = whole_pages(k_bytes, 5);
    begin_case("two nonblocking receives, and one that blocks");
    start_receive(&requests[0]);
    start_receive(&requests[1]);
    for (int i = 0; i < 3; ++i)
        MPI_Isend(others, k_bytes, MPI_BYTE, partner(), tag, MPI_COMM_WORLD, &requests[2 + i]);
    receive();
    finish(requests, 5);
}

static void both_in_one_call(void) {
    MPI_Status status = untouched_status();
    begin_case("MPI_Sendrecv");
    MPI_Sendrecv(buffer, k_bytes, MPI_BYTE, partner(), tag, buffer, k_bytes, MPI_BYTE, partner(), tag, MPI_COMM_WORLD,
                 &status);
    say_status("received", &status, MPI_BYTE);
    say_bytes("all", buffer, k_bytes);
}

// So that something returns early: nothing else uses its buffer.
static void receive_as_allowed(void) {
    begin_case("once at a time");
    if (receives()) {
        MPI_Status status = untouched_status();
        MPI_Recv(buffer, k_bytes, MPI_BYTE, partner(), tag, MPI_COMM_WORLD, &status);
        say_status("received", &status, MPI_BYTE);
    } else {
        send_slowly(buffer, k_bytes, partner(), tag);
    }
    say_bytes("all", buffer, k_bytes);
}

int main(int argc, char** argv) {
    begin(&argc, &argv);
    expect_early_returns();
    buffer = whole_pages(k_bytes, 5);
    receive_as_allowed();
    sends_then_receives();
    send_then_started_receive();
    started_receive_then_send();
    started_receive_then_blocking_send();
    persistent_send_then_receive();
    both_in_one_call();
    two_receives();
    return end();
}
