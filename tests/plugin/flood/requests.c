/* SPDX-License-Identifier: BSD-3-Clause */
// Nonblocking and persistent standard sends to a receiver that is late, completed by each call that completes requests,
// together with receives that complete in between.
#include <string.h>
#include <unistd.h>

#include "transcript.h"

enum { k_bytes = 900, k_many = 24, k_rounds = 5 };

enum how {
    k_wait,
    k_waitall,
    k_waitany,
    k_waitsome,
    k_test,
    k_testall,
    k_testany,
    k_testsome,
    k_get_status,
    k_free,
    k_cancel,
    k_ways
};

static MPI_Request requests[k_many + 1];

static void by_ones(int n, int waits) {
    for (int i = 0; i < n; ++i) {
        int done = 0;
        MPI_Status status = untouched_status();
        if (waits) MPI_Wait(&requests[i], &status);
        while (!waits && !done)
            MPI_Test(&requests[i], &done, &status);
        int cancelled = -1;
        MPI_Test_cancelled(&status, &cancelled);
        if (cancelled != 0 || requests[i] != MPI_REQUEST_NULL) say("request %d: cancelled %d", i, cancelled);
    }
}

static void by_any(int n, int waits) {
    int left = n;
    while (left > 0) {
        int index = MPI_UNDEFINED;
        int done = waits;
        if (waits)
            MPI_Waitany(n, requests, &index, MPI_STATUS_IGNORE);
        else
            MPI_Testany(n, requests, &index, &done, MPI_STATUS_IGNORE);
        if (done && index != MPI_UNDEFINED) --left;
    }
    int index = 0;
    MPI_Waitany(n, requests, &index, MPI_STATUS_IGNORE);
    say("after all: %s", index == MPI_UNDEFINED ? "undefined" : "an index");
}

static void by_some(int n, int waits) {
    int left = n;
    while (left > 0) {
        int number = 0;
        int indices[k_many + 1];
        MPI_Status statuses[k_many + 1];
        if (waits)
            MPI_Waitsome(n, requests, &number, indices, statuses);
        else
            MPI_Testsome(n, requests, &number, indices, statuses);
        if (waits && number == 0) say("Waitsome found none");
        left -= number;
    }
}

static void complete(enum how how, int n) {
    int done = 0;
    switch (how) {
        case k_wait:
        case k_test:
            by_ones(n, how == k_wait);
            break;
        case k_waitall:
            MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
            break;
        case k_testall:
            while (!done)
                MPI_Testall(n, requests, &done, MPI_STATUSES_IGNORE);
            break;
        case k_waitany:
        case k_testany:
            by_any(n, how == k_waitany);
            break;
        case k_waitsome:
        case k_testsome:
            by_some(n, how == k_waitsome);
            break;
        case k_get_status:
            for (int i = 0; i < n; ++i)
                for (done = 0; !done;)
                    MPI_Request_get_status(requests[i], &done, MPI_STATUS_IGNORE);
            MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
            break;
        case k_free:  // the last one is the receive
            for (int i = 0; i < n - 1; ++i)
                MPI_Request_free(&requests[i]);
            MPI_Wait(&requests[n - 1], MPI_STATUS_IGNORE);
            break;
        default:  // what is left after cancel_some
            MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
    }
    for (int i = 0; i < n; ++i)
        if (requests[i] != MPI_REQUEST_NULL) say("request %d is not null", i);
}

// Waits for some sends that were cancelled, whatever the receiver does, and tells it which of them do not come.
static void cancel_some(int to) {
    int cancelled[k_many] = {0};
    for (int i = 0; i < k_many; i += 5)
        MPI_Cancel(&requests[i]);
    for (int i = 0; i < k_many; i += 5) {
        MPI_Status status = untouched_status();
        MPI_Wait(&requests[i], &status);
        MPI_Test_cancelled(&status, &cancelled[i]);
        say("send %d: cancelled %d", i, cancelled[i]);
    }
    MPI_Send(cancelled, k_many, MPI_INT, to, 3, MPI_COMM_WORLD);
}

static void send_side(int to, enum how how) {
    static char data[k_many][k_bytes];
    char answer = 0;
    for (int i = 0; i < k_many; ++i) {
        fill(data[i], k_bytes, (unsigned)i);
        MPI_Isend(data[i], k_bytes, MPI_CHAR, to, 1, MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Irecv(&answer, 1, MPI_CHAR, to, 2, MPI_COMM_WORLD, &requests[k_many]);
    if (how == k_cancel) cancel_some(to);
    complete(how, k_many + 1);
    say("way %d: answer %c", (int)how, answer);
}

static void receive_side(int from, enum how how) {
    char data[k_bytes];
    int cancelled[k_many] = {0};
    uint64_t sum = 0;
    if (how == k_cancel) MPI_Recv(cancelled, k_many, MPI_INT, from, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < k_many; ++i) {
        if (i % 8 == 0) usleep(2000);
        if (cancelled[i] == 0) MPI_Recv(data, k_bytes, MPI_CHAR, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        sum = sum * 31 + checksum(data, sizeof data);
        if (i == k_many / 2) MPI_Send("y", 1, MPI_CHAR, from, 2, MPI_COMM_WORLD);
    }
    say("sum %llx", (unsigned long long)sum);
}

// Some of a list are started again and again; derived types, whose copies are packed.
static void persistent(int partner, int sends) {
    enum { k_list = 6 };
    static double memory[k_list][400];
    MPI_Request list[k_list];
    MPI_Datatype column;
    MPI_Type_vector(100, 1, 4, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    for (int i = 0; i < k_list; ++i) {
        if (sends)
            MPI_Send_init(memory[i], 1, column, partner, i, MPI_COMM_WORLD, &list[i]);
        else
            MPI_Recv_init(memory[i], 1, column, partner, i, MPI_COMM_WORLD, &list[i]);
    }
    for (int round = 0; round < 40; ++round) {
        for (int i = 0; sends && i < k_list; ++i)
            fill(memory[i], sizeof memory[i], (unsigned)(round * 10 + i));
        if (!sends && round % 10 == 0) usleep(2000);
        if (round % 2 == 0)
            MPI_Startall(k_list, list);
        else
            for (int i = 0; i < k_list; ++i)
                MPI_Start(&list[i]);
        if (round % 3 == 0)
            MPI_Waitall(k_list, list, MPI_STATUSES_IGNORE);
        else
            for (int i = 0; i < k_list; ++i)
                MPI_Wait(&list[i], MPI_STATUS_IGNORE);
        for (int i = 0; !sends && i < k_list; ++i)
            say_bytes("column", memory[i], sizeof memory[i]);
    }
    for (int i = 0; i < k_list; ++i)
        MPI_Request_free(&list[i]);
    MPI_Type_free(&column);
}

static int waits_in_handler = 0;

static void handler(MPI_Comm* comm, int* code, ...) {
    (void)comm;
    (void)code;
    ++waits_in_handler;
    MPI_Waitall(k_many, requests, MPI_STATUSES_IGNORE);
}

// An error handler waits for requests, of which every third is persistent: those that were started before it was made,
// and after.
static void wait_in_a_handler(int partner, int sends) {
    static char data[k_many][k_bytes];
    MPI_Comm copy;
    MPI_Errhandler made;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    for (int i = 0; sends && i < k_many; i += 3)
        MPI_Send_init(data[i], k_bytes, MPI_CHAR, partner, i, MPI_COMM_WORLD, &requests[i]);
    for (int round = 0; round < 6; ++round) {
        for (int i = 0; i < k_many; ++i)
            if (sends && i % 3 == 0)
                MPI_Start(&requests[i]);
            else if (sends)
                MPI_Isend(data[i], k_bytes, MPI_CHAR, partner, i, MPI_COMM_WORLD, &requests[i]);
            else
                MPI_Recv(data[i], k_bytes, MPI_CHAR, partner, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (round == 0) {
            MPI_Comm_create_errhandler(handler, &made);
            MPI_Comm_set_errhandler(copy, made);
            MPI_Errhandler_free(&made);
        }
        if (sends) MPI_Send(data[0], 1, MPI_CHAR, ranks + 7, 0, copy);
        if (!sends) usleep(2000);
    }
    for (int i = 0; sends && i < k_many; i += 3)
        MPI_Request_free(&requests[i]);
    say("waits in the handler: %d", waits_in_handler);
    MPI_Comm_free(&copy);
}

static void tell(MPI_Comm* comm, int* code, ...) {
    int class = 0;
    int result = MPI_UNEQUAL;
    MPI_Error_class(*code, &class);
    MPI_Comm_compare(*comm, MPI_COMM_WORLD, &result);
    say("handler: %s on %s", class == MPI_ERR_TRUNCATE ? "truncated" : "refused",
        result == MPI_CONGRUENT ? "the copy" : "another");
}

// What fails is told to the handler of its communicator as often as without marks, and the other sends go on.
static void count_in_a_handler(int partner, int sends) {
    static char data[k_many][k_bytes];
    MPI_Comm copy;
    MPI_Errhandler made;
    MPI_Datatype not_committed;
    MPI_Request refused;
    MPI_Type_contiguous(100, MPI_CHAR, &not_committed);
    MPI_Comm_create_errhandler(tell, &made);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_set_errhandler(copy, made);
    MPI_Errhandler_free(&made);
    for (int round = 0; round < 3; ++round) {
        for (int i = 0; sends && i < k_many; ++i) {
            MPI_Isend(data[i], k_bytes, MPI_CHAR, partner, i, copy, &requests[i]);
            if (i % 6 == 0) MPI_Isend(data[i], 1, not_committed, partner, i, copy, &refused);
            if (i % 6 == 1) MPI_Isend(data[i], k_bytes, MPI_CHAR, ranks + 7, i, copy, &refused);
            if (i % 6 == 2) MPI_Send(data[i], k_bytes, MPI_CHAR, partner, -20, copy);
            if (i % 6 == 3) MPI_Send(data[i], -1, MPI_CHAR, partner, i, copy);
        }
        if (sends) MPI_Waitall(k_many, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; !sends && i < k_many; ++i) {
            if (i % 8 == 0) usleep(2000);
            MPI_Recv(data[i], i % 3 == 0 ? k_bytes / 2 : k_bytes, MPI_CHAR, partner, i, copy, MPI_STATUS_IGNORE);
        }
    }
    MPI_Type_free(&not_committed);
    MPI_Comm_free(&copy);
}

int main(int argc, char** argv) {
    begin(&argc, &argv);
    if (argc > 1) {
        void (*const act)(int, int) = strcmp(argv[1], "counts") == 0 ? count_in_a_handler : wait_in_a_handler;
        if ((me ^ 1) < ranks) act(me ^ 1, me % 2 == 0);
        MPI_Barrier(MPI_COMM_WORLD);
        return end();
    }
    int const partner = me % 2 == 0 ? me + 1 : me - 1;
    if (partner < ranks) {
        persistent(partner, me % 2 == 0);
        for (int way = 0; way < k_ways; ++way)
            for (int round = 0; round < k_rounds; ++round)
                if (me % 2 == 0)
                    send_side(partner, (enum how)way);
                else
                    receive_side(partner, (enum how)way);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return end();
}
