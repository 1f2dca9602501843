/* SPDX-License-Identifier: BSD-3-Clause */
// MPI_Waitall on requests of which one has failed, a receive whose message is too long: failed HOW [beside]. HOW says
// what the error does: `return`, `handler` (counts its calls), `jump` (leaves MPI by longjmp), or `fatal`, which ends
// the job. With `beside` a large receive is pending meanwhile that was posted while errors were fatal.
#include <mpi.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pending.h"
#include "transcript.h"

enum { k_ints = 64, k_requests = 7, k_large = 4 << 20, k_beside = 1 << 20, k_beside_tag = 99, k_late_tag = 70 };

static int handled = 0;
static int jumps = 0;
static jmp_buf back;
static int from[k_ints], to[k_ints];
static MPI_Request requests[k_requests];
static MPI_Status statuses[k_requests];

static void handle(MPI_Comm* comm, int* code, ...) {
    int class = 0;
    (void)comm;
    MPI_Error_class(*code, &class);
    say("the handler is told of class %d", class);
    ++handled;
    if (jumps) longjmp(back, 1);
}

static void say_signals(void) {
    sigset_t blocked;
    sigprocmask(SIG_BLOCK, NULL, &blocked);
    say("SIGALRM %d SIGTERM %d", sigismember(&blocked, SIGALRM), sigismember(&blocked, SIGTERM));
}

static void say_handles(int count) {
    char text[k_requests + 1] = "";
    for (int i = 0; i < count; ++i)
        text[i] = requests[i] == MPI_REQUEST_NULL ? '0' : '+';
    say("handles %s", text);
}

static void wait_for(int count, int with_statuses) {
    for (int i = 0; i < count; ++i)
        statuses[i] = untouched_status();
    handled = 0;
    if (setjmp(back) == 0)
        CALL(MPI_Waitall(count, requests, with_statuses ? statuses : MPI_STATUSES_IGNORE));
    else
        say("left");
    say("handler called %d times", handled);
    say_handles(count);
}

static void free_rest(int count) {
    for (int i = 0; i < count; ++i)
        if (requests[i] != MPI_REQUEST_NULL) MPI_Request_free(&requests[i]);
}

static void say_statuses(int count) {
    for (int i = 0; i < count; ++i) {
        say("status %d: error %d", i, statuses[i].MPI_ERROR == k_untouched ? k_untouched : statuses[i].MPI_ERROR != 0);
        if (statuses[i].MPI_ERROR == MPI_SUCCESS) say_status("it", &statuses[i], MPI_INT);
    }
}

/// Messages to itself: the last receive has no room for its message. Two of the requests are not active.
static void start(int persistent, int failing) {
    for (int i = 0; i < 2; ++i) {
        int const room = failing && i == 1 ? k_ints / 2 : k_ints;
        if (persistent) {
            MPI_Send_init(from, k_ints, MPI_INT, me, i, MPI_COMM_WORLD, &requests[i]);
            MPI_Recv_init(to, room, MPI_INT, me, i, MPI_COMM_WORLD, &requests[2 + i]);
        } else {
            MPI_Isend(from, k_ints, MPI_INT, me, i, MPI_COMM_WORLD, &requests[i]);
            MPI_Irecv(to, room, MPI_INT, me, i, MPI_COMM_WORLD, &requests[2 + i]);
        }
    }
    if (persistent) MPI_Startall(4, requests);
    requests[4] = MPI_REQUEST_NULL;
    MPI_Recv_init(to, k_ints, MPI_INT, me, 5, MPI_COMM_WORLD, &requests[5]);
}

static void complete_at_once(int persistent, int with_statuses, int failing) {
    say("-- complete, persistent %d statuses %d failing %d", persistent, with_statuses, failing);
    start(persistent, failing);
    wait_for(6, with_statuses);
    if (with_statuses) say_statuses(6);
    free_rest(6);
}

#ifdef OPEN_MPI  // MPICH waits for all, also if one has failed
/// The message of one more receive comes after the call.
static void beside_a_pending_one(int persistent, int with_statuses) {
    int late = 0;
    int const value = 17;
    say("-- beside a pending one, persistent %d statuses %d", persistent, with_statuses);
    start(persistent, 1);
    MPI_Irecv(&late, 1, MPI_INT, me, 6, MPI_COMM_WORLD, &requests[6]);
    wait_for(7, with_statuses);
    if (with_statuses && !jumps) say_statuses(7);
    MPI_Send(&value, 1, MPI_INT, me, 6, MPI_COMM_WORLD);
    if (requests[6] != MPI_REQUEST_NULL) MPI_Wait(&requests[6], MPI_STATUS_IGNORE);
    say("late %d", late);
    free_rest(6);
}

#endif

/// The other rank sends the message that is too long when it has all of a message that only this call brings to it.
static void fails_while_waiting(int persistent, int with_statuses) {
    int const other = partner();
    char* const large = room(k_large);
    fill(large, k_large, 3);
    say("-- fails while waiting, persistent %d statuses %d", persistent, with_statuses);
    MPI_Barrier(MPI_COMM_WORLD);
    if (other >= 0 && receives()) {
        if (persistent) {
            MPI_Recv_init(to, k_ints / 2, MPI_INT, other, k_late_tag, MPI_COMM_WORLD, &requests[0]);
            MPI_Start(&requests[0]);
        } else {
            MPI_Irecv(to, k_ints / 2, MPI_INT, other, k_late_tag, MPI_COMM_WORLD, &requests[0]);
        }
        MPI_Isend(large, k_large, MPI_BYTE, other, k_late_tag, MPI_COMM_WORLD, &requests[1]);
        wait_for(2, with_statuses);
        if (with_statuses && !jumps) say_statuses(1);
        for (int i = 0; i < 2; ++i)
            if (requests[i] != MPI_REQUEST_NULL) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    } else if (other >= 0) {
        MPI_Recv(large, k_large, MPI_BYTE, other, k_late_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(from, k_ints, MPI_INT, other, k_late_tag, MPI_COMM_WORLD);
    }
    free(large);
}

/// More requests than fit on a stack.
static void many(void) {
    enum { k_many = 400 };
    static MPI_Request all[k_many];
    say("-- many");
    for (int i = 0; i < k_many / 2; ++i) {
        MPI_Isend(from, 1, MPI_INT, me, 100 + i, MPI_COMM_WORLD, &all[i]);
        MPI_Irecv(to, i != 77, MPI_INT, me, 100 + i, MPI_COMM_WORLD, &all[k_many / 2 + i]);
    }
    handled = 0;
    if (setjmp(back) == 0)
        CALL(MPI_Waitall(k_many, all, MPI_STATUSES_IGNORE));
    else
        say("left");
    int left = 0;
    for (int i = 0; i < k_many; ++i)
        left += all[i] != MPI_REQUEST_NULL;
    say("handler called %d times, %d handles left", handled, left);
}

#ifdef OPEN_MPI
/// Of many receives one fails while the first is pending, whose message comes after the call.
static void fails_among_many(int failing, int with_statuses) {
    enum { k_many = 400, k_tag = 1000 };
    static MPI_Request all[k_many];
    static MPI_Status told[k_many];
    static int values[k_many];
    int const other = partner();
    int go = 1;
    say("-- %d fails among many, statuses %d", failing, with_statuses);
    if (other >= 0 && receives()) {
        for (int i = 0; i < k_many; ++i) {
            values[i] = -1;
            told[i] = untouched_status();
            MPI_Irecv(&values[i], i != failing, MPI_INT, other, k_tag + i, MPI_COMM_WORLD, &all[i]);
        }
        MPI_Send(&go, 1, MPI_INT, other, k_tag, MPI_COMM_WORLD);
        handled = 0;
        if (setjmp(back) == 0)
            CALL(MPI_Waitall(k_many, all, with_statuses ? told : MPI_STATUSES_IGNORE));
        else
            say("left");
        say("handler called %d times, first %d, failing %d", handled, all[0] != MPI_REQUEST_NULL,
            all[failing] != MPI_REQUEST_NULL);
        int wrong = 0;
        for (int i = 0; with_statuses && !jumps && i < k_many; ++i) {
            int const error = told[i].MPI_ERROR;
            wrong += all[i] != MPI_REQUEST_NULL ? error != MPI_ERR_PENDING
                     : i == failing             ? error == MPI_SUCCESS || error == MPI_ERR_PENDING
                                                : error != MPI_SUCCESS || told[i].MPI_TAG != k_tag + i;
        }
        MPI_Send(&go, 1, MPI_INT, other, k_tag, MPI_COMM_WORLD);
        for (int i = 0; i < k_many; ++i)
            if (i != failing) MPI_Wait(&all[i], MPI_STATUS_IGNORE), wrong += values[i] != i;
        say("%d wrong", wrong);
    } else if (other >= 0) {
        MPI_Recv(&go, 1, MPI_INT, other, k_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 1; i < k_many; ++i)
            MPI_Send(&i, 1, MPI_INT, other, k_tag + i, MPI_COMM_WORLD);
        MPI_Recv(&go, 1, MPI_INT, other, k_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        int const first = 0;
        MPI_Send(&first, 1, MPI_INT, other, k_tag, MPI_COMM_WORLD);
    }
}
#endif

/// The data come after errors have been told, and `pending` may be among the requests that are waited for.
static void end_pending(unsigned char* pages, MPI_Request pending) {
    unsigned char* const data = room(k_beside);
    fill(data, k_beside, (unsigned)me);
    MPI_Request sending;
    MPI_Isend(data, k_beside, MPI_BYTE, partner(), k_beside_tag, MPI_COMM_WORLD, &sending);
#ifdef OPEN_MPI
    say("-- with the pending one");
    handled = 0;
    MPI_Isend(from, k_ints, MPI_INT, me, 7, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(to, k_ints / 2, MPI_INT, me, 7, MPI_COMM_WORLD, &requests[1]);
    requests[2] = pending;
    if (setjmp(back) == 0)
        CALL(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
    else
        say("left");
    say("handler called %d times", handled);
    pending = requests[2];
#endif
    MPI_Wait(&pending, MPI_STATUS_IGNORE);
    say_bytes("pending", pages, k_beside);
    MPI_Wait(&sending, MPI_STATUS_IGNORE);
    free(data);
}

static void set_handler(char const* how) {
    MPI_Errhandler handler = MPI_ERRORS_RETURN;
    jumps = strcmp(how, "jump") == 0;
    if (strcmp(how, "return") != 0) MPI_Comm_create_errhandler(handle, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
}

int main(int argc, char** argv) {
    char const* const how = argc > 1 ? argv[1] : "return";
    unsigned char* pages = NULL;
    MPI_Request pending = MPI_REQUEST_NULL;
    begin(&argc, &argv);
    if (argc > 2 && partner() >= 0) {
        pages = whole_pages(k_beside, 1);
        MPI_Irecv(pages, k_beside, MPI_BYTE, partner(), k_beside_tag, MPI_COMM_WORLD, &pending);
    }
    if (strcmp(how, "fatal") != 0) set_handler(how);
    for (int persistent = 0; persistent < 2; ++persistent)
        for (int with_statuses = 0; with_statuses < 2; ++with_statuses) {
            complete_at_once(persistent, with_statuses, 0);
            complete_at_once(persistent, with_statuses, 1);
#ifdef OPEN_MPI
            beside_a_pending_one(persistent, with_statuses);
#endif
            fails_while_waiting(persistent, with_statuses);
            say_signals();
        }
    many();
#ifdef OPEN_MPI
    for (int with_statuses = 0; with_statuses < 2; ++with_statuses) {
        fails_among_many(33, with_statuses);
        fails_among_many(333, with_statuses);
    }
#endif
    MPI_Barrier(MPI_COMM_WORLD);
    if (pages != NULL) end_pending(pages, pending);
    return end();
}
