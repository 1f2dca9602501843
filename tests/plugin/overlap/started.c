/* SPDX-License-Identifier: BSD-3-Clause */
// Nonblocking receives, and what may happen between their start and their completion: other receives and probes of the
// same messages, every call that completes requests, calls that no receive goes beside, cancels, frees.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "absent.h"
#include "pending.h"
#include "transcript.h"

enum { k_bytes = 1 << 19, k_page = 4096, k_parts = 4, k_many = 100, k_small = 16 << 10 };
static unsigned char* buffer;  // of k_parts receives
static int tag;                // of this case

static int waits_early = 0;

static void say_early(void) {
    if (waits_early != 0) fprintf(stderr, "sluice test: %d waits that returned before their data\n", waits_early);
}

static unsigned char* part(int i) {
    return buffer + (size_t)i * k_bytes;
}

static void receive(int i, int from, int with_tag, MPI_Comm comm, MPI_Request* request) {
    MPI_Irecv(part(i), k_bytes, MPI_BYTE, from, with_tag, comm, request);
}

static void start(int i, MPI_Request* request) {
    receive(i, partner(), tag, MPI_COMM_WORLD, request);
}

static void say_part(int i) {
    say_bytes("part", part(i), k_bytes);
}

static void say_done(int i, MPI_Status* status) {
    count_touch(part(i) + k_bytes / 2);
    status->MPI_ERROR = k_untouched;  // calls on many may set it or not
    say_status("done", status, MPI_BYTE);
    say_part(i);
}

static void moment(int ms) {
    struct timespec left = {ms / 1000, (ms % 1000) * 1000000L};
    while (nanosleep(&left, &left) != 0) {
    }
}

// The sender's side: `n` messages, each begun before the first goes on.
static void send_some(int n) {
    MPI_Request requests[k_parts];
    for (int i = 0; i < n; ++i) {
        fill(part(i), k_bytes, (unsigned)(me * 100 + tag * 10 + i));
        MPI_Isend(part(i), k_bytes - 100 * i, MPI_BYTE, partner(), tag, MPI_COMM_WORLD, &requests[i]);
    }
    moment(hold_ms);
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
}
static void send_one(void) {
    send_some(1);
}
static void send_two(void) {
    send_some(2);
}
static void send_all(void) {
    send_some(k_parts);
}

static void send_nothing(void) {
    moment(hold_ms);
}

static void wait_one(void) {
    MPI_Request request;
    MPI_Status status = untouched_status();
    start(0, &request);
    MPI_Wait(&request, &status);
    waits_early += is_absent(part(0));
    say("null: %d", request == MPI_REQUEST_NULL);
    say_done(0, &status);
}

static void wait_later(void) {
    MPI_Request request;
    MPI_Status status = untouched_status();
    start(0, &request);
    moment(3 * hold_ms);
    MPI_Wait(&request, &status);
    say_done(0, &status);
}

static void ignore_status(void) {
    MPI_Request request;
    start(0, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    count_touch(part(0) + k_bytes - 1);
    say("last: %d", part(0)[k_bytes - 1]);
}

static void wait_all(void) {
    MPI_Request requests[k_parts + 2];
    MPI_Status statuses[k_parts + 2];
    int const out = tag;
    int in = -1;
    for (int i = 0; i < k_parts + 2; ++i)
        statuses[i] = untouched_status();
    for (int i = 0; i < k_parts; ++i)
        start(i, &requests[i]);
    MPI_Irecv(&in, 1, MPI_INT, me, 30001, MPI_COMM_WORLD, &requests[k_parts]);
    MPI_Isend(&out, 1, MPI_INT, me, 30001, MPI_COMM_WORLD, &requests[k_parts + 1]);
    MPI_Waitall(k_parts + 2, requests, statuses);
    for (int i = 0; i < k_parts; ++i)
        waits_early += is_absent(part(i));
    say("from itself: %d", in == tag);
    for (int i = k_parts - 1; i >= 0; --i)
        say_done(i, &statuses[i]);
}

static void test_one(void) {
    MPI_Request request;
    MPI_Status status = untouched_status();
    int flag = 0;
    start(0, &request);
    while (!flag)
        MPI_Test(&request, &flag, &status);
    say_done(0, &status);
}

static void get_status(void) {
    MPI_Request request;
    MPI_Status status = untouched_status();
    int flag = 0;
    start(0, &request);
    while (!flag)
        MPI_Request_get_status(request, &flag, &status);
    say_part(0);
    MPI_Wait(&request, &status);
    say_done(0, &status);
}

static void complete_some(int way) {
    MPI_Request requests[k_parts];
    MPI_Status statuses[k_parts];
    int indices[k_parts];
    for (int i = 0; i < k_parts; ++i)
        start(i, &requests[i]);
    for (int left = k_parts; left > 0;) {
        int n = 1;
        int flag = 1;
        if (way == 0) MPI_Waitany(k_parts, requests, indices, statuses);
        if (way == 1) MPI_Testany(k_parts, requests, indices, &flag, statuses);
        if (way == 2) MPI_Waitsome(k_parts, requests, &n, indices, statuses);
        if (way == 3) MPI_Testsome(k_parts, requests, &n, indices, statuses);
        if (flag) left -= n;
    }
    for (int i = 0; i < k_parts; ++i)
        say_part(i);
}
static void wait_any(void) {
    complete_some(0);
}
static void test_any(void) {
    complete_some(1);
}
static void wait_some(void) {
    complete_some(2);
}
static void test_some(void) {
    complete_some(3);
}

static void test_all(void) {
    MPI_Request requests[2];
    MPI_Status statuses[2] = {untouched_status(), untouched_status()};
    int flag = 0;
    start(0, &requests[0]);
    start(1, &requests[1]);
    while (!flag)
        MPI_Testall(2, requests, &flag, statuses);
    say_done(1, &statuses[1]);
    say_done(0, &statuses[0]);
}

static void collective_between(void) {
    MPI_Request request;
    MPI_Status status = untouched_status();
    int sum = 0;
    start(0, &request);
    MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
    moment(2 * hold_ms);
    MPI_Barrier(MPI_COMM_SELF);
    MPI_Wait(&request, &status);
    say_done(0, &status);
}

// The first message is the first receive's, whatever comes after it.
static void recv_after(void) {
    MPI_Request request;
    MPI_Status status = untouched_status();
    start(0, &request);
    MPI_Recv(part(1), k_bytes, MPI_BYTE, partner(), tag, MPI_COMM_WORLD, &status);
    say_done(1, &status);
    status = untouched_status();
    MPI_Wait(&request, &status);
    say_done(0, &status);
}

static void probe_after(void) {
    MPI_Request request;
    MPI_Status status = untouched_status();
    start(0, &request);
    MPI_Probe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &status);
    say_status("probed", &status, MPI_BYTE);
    MPI_Recv(part(1), k_bytes, MPI_BYTE, partner(), tag, MPI_COMM_WORLD, &status);
    say_done(1, &status);
    MPI_Wait(&request, &status);
    say_done(0, &status);
}

static void iprobe_after(void) {
    MPI_Request request;
    MPI_Status status = untouched_status();
    MPI_Message message;
    int flag = 0;
    start(0, &request);
    while (!flag)
        MPI_Improbe(partner(), MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &message, &status);
    say_status("probed", &status, MPI_BYTE);
    MPI_Mrecv(part(1), k_bytes, MPI_BYTE, &message, &status);
    say_done(1, &status);
    MPI_Wait(&request, &status);
    say_done(0, &status);
}

static void any_before(void) {
    MPI_Request requests[2];
    MPI_Status statuses[2] = {untouched_status(), untouched_status()};
    receive(0, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &requests[0]);
    receive(1, partner(), MPI_ANY_TAG, MPI_COMM_WORLD, &requests[1]);
    MPI_Wait(&requests[1], &statuses[1]);
    say_done(1, &statuses[1]);
    MPI_Wait(&requests[0], &statuses[0]);
    say_done(0, &statuses[0]);
}

static void small_after(void) {
    MPI_Request requests[2];
    MPI_Status statuses[2] = {untouched_status(), untouched_status()};
    start(0, &requests[0]);
    MPI_Irecv(part(1) + 5, k_bytes - 100, MPI_BYTE, partner(), tag, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, statuses);
    say_done(1, &statuses[1]);
    say_done(0, &statuses[0]);
}

static void cancel(void) {
    MPI_Request request;
    MPI_Status status = untouched_status();
    int cancelled = -1;
    receive(0, partner(), tag + 1000, MPI_COMM_WORLD, &request);
    moment(hold_ms);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &cancelled);
    say("cancelled: %d", cancelled);
}

static void free_request(void) {
    MPI_Request request;
    int flag = 0;
    part(0)[k_bytes - 1] = 0;
    start(0, &request);
    MPI_Request_free(&request);
    say("null: %d", request == MPI_REQUEST_NULL);
    MPI_Recv(part(1), 0, MPI_BYTE, partner(), tag + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 50; ++i, moment(1))
        MPI_Iprobe(partner(), tag + 2000, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    say_part(0);
}
static void send_and_tell(void) {
    fill(part(0), k_bytes, (unsigned)tag);
    send_slowly(part(0), k_bytes, partner(), tag);
    MPI_Send(part(1), 0, MPI_BYTE, partner(), tag + 1, MPI_COMM_WORLD);
}

static void type_freed(void) {
    MPI_Datatype type;
    MPI_Request request;
    MPI_Status status = untouched_status();
    MPI_Type_contiguous(k_bytes / 64, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    MPI_Irecv(part(0), 64, type, partner(), tag, MPI_COMM_WORLD, &request);
    MPI_Type_free(&type);
    MPI_Wait(&request, &status);
    say_done(0, &status);
}

// The function is not watched, and slow_name.c makes it slow: no thread calls MPI meanwhile, so nothing comes.
static void slow_function(void) {
    char name[MPI_MAX_OBJECT_NAME];
    int length = 0;
    MPI_Request request;
    MPI_Status status = untouched_status();
    memset(part(0), 0, k_bytes);
    start(0, &request);
    MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
    say("came meanwhile: %d", is_absent(part(0)) || part(0)[1] != 0);
    MPI_Wait(&request, &status);
    say_done(0, &status);
}
static void send_a_little_later(void) {
    moment(2 * hold_ms);
    send_one();
}

static void fork_between(void) {
    MPI_Request request;
    MPI_Status status = untouched_status();
    int ended = -1;
    start(0, &request);
    moment(2 * hold_ms);
    pid_t const child = fork();
    if (child == 0) _exit(7);
    waitpid(child, &ended, 0);
    say("child: %d", WEXITSTATUS(ended));
    MPI_Wait(&request, &status);
    say_done(0, &status);
}

static void nothing_comes(void) {
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status statuses[2] = {untouched_status(), untouched_status()};
    int index = -1;
    receive(0, MPI_PROC_NULL, tag, MPI_COMM_WORLD, &requests[0]);
    start(1, &requests[1]);
    MPI_Waitany(2, requests, &index, statuses);
    say("first: %d", index);
    MPI_Waitall(2, requests, statuses);
    say_done(1, &statuses[1]);
}

// More than may be held.
static void many(void) {
    MPI_Request requests[k_many];
    unsigned char* small[k_many];
    for (int i = 0; i < k_many; ++i) {
        small[i] = whole_pages(k_small, 1);
        MPI_Irecv(small[i], k_small, MPI_BYTE, partner(), tag + i, MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Waitall(k_many, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < k_many; ++i)
        say_bytes("small", small[i], k_small);
}
static void send_many(void) {
    for (int i = k_many - 1; i >= 0; --i) {
        fill(part(0), k_small, (unsigned)(tag + i));
        MPI_Send(part(0), k_small, MPI_BYTE, partner(), tag + i, MPI_COMM_WORLD);
    }
}

static struct {
    char const* name;
    void (*receive)(void);
    void (*send)(void);
} const cases[] = {
    {"wait", wait_one, send_one},
    {"wait later", wait_later, send_one},
    {"no status", ignore_status, send_one},
    {"wait for all", wait_all, send_all},
    {"test", test_one, send_one},
    {"get the status", get_status, send_one},
    {"wait for any", wait_any, send_all},
    {"test any", test_any, send_all},
    {"wait for some", wait_some, send_all},
    {"test some", test_some, send_all},
    {"test all", test_all, send_two},
    {"a collective call between", collective_between, send_one},
    {"a receive after", recv_after, send_two},
    {"a probe after", probe_after, send_two},
    {"a matched probe after", iprobe_after, send_two},
    {"any source before", any_before, send_two},
    {"other pages after", small_after, send_two},
    {"cancel", cancel, send_nothing},
    {"free", free_request, send_and_tell},
    {"the type is freed", type_freed, send_one},
    {"a slow function", slow_function, send_a_little_later},
    {"fork", fork_between, send_one},
    {"nothing comes", nothing_comes, send_one},
    {"many", many, send_many},
};

int main(int argc, char** argv) {
    begin(&argc, &argv);
    expect_early_returns();
    atexit(say_early);
    buffer = whole_pages((size_t)k_parts * k_bytes, 7);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        tag = 200 * (int)i;
        MPI_Barrier(MPI_COMM_WORLD);
        if (partner() < 0) continue;
        say("-- %s", cases[i].name);
        if (receives())
            cases[i].receive();
        else
            cases[i].send();
    }
    return end();
}
