/* SPDX-License-Identifier: BSD-3-Clause */
// ends CASE: the process ends, or becomes another program, with a receive pending. What it wrote before, and how it
// ends, are the same as without the layer.
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pending.h"
#include "transcript.h"

enum { k_bytes = 4 << 20 };
static unsigned char* buffer;

static void say_at_exit(void) {
    say_bytes("at exit", buffer, k_bytes);
}
static void in_a_handler(int number) {
    say("signal %d", number);
    say_bytes("in the handler", buffer, k_bytes);  // its data come there, too
    _exit(6);
}

static void end_as(char const* how) {
    if (strcmp(how, "exec") == 0) execl("/bin/sh", "sh", "-c", "exit 5", (char*)NULL);
    if (strcmp(how, "exit") == 0) exit(3);
    if (strcmp(how, "exit_handler") == 0) {
        atexit(say_at_exit);
        exit(3);
    }
    if (strcmp(how, "_exit") == 0) _exit(4);
    if (strcmp(how, "quick_exit") == 0) quick_exit(4);
    if (strcmp(how, "abort") == 0) abort();
    if (strcmp(how, "kill") == 0) raise(SIGKILL);
    if (strcmp(how, "terminate") == 0) {
        signal(SIGTERM, in_a_handler);
        raise(SIGTERM);
    }
    if (strcmp(how, "segv") == 0) *(int volatile*)NULL = 1;
    if (strcmp(how, "mpi_abort") == 0) MPI_Abort(MPI_COMM_WORLD, 7);
    if (strcmp(how, "finalize") == 0) {
        MPI_Finalize();
        say_bytes("after MPI_Finalize", buffer, k_bytes);
        exit(0);
    }
    if (strcmp(how, "return") == 0) return;
}

// No process can wait for the data then, and the job may end before they have left.
static int ends_at_once(char const* how) {
#ifdef MPICH  // its launcher ends the other ranks of a job as soon as one has ended
    return strcmp(how, "finalize") != 0 && strcmp(how, "return") != 0;
#endif
    return strcmp(how, "kill") == 0 || strcmp(how, "segv") == 0 || strcmp(how, "mpi_abort") == 0;
}

// The sender ends instead of sending what it has begun to send.
static void die_in_mid_transfer(void) {
    MPI_Request request;
    MPI_Isend(buffer, k_bytes, MPI_BYTE, partner(), 1, MPI_COMM_WORLD, &request);
    usleep((useconds_t)hold_ms * 1000);
    raise(SIGKILL);
}

int main(int argc, char** argv) {
    begin(&argc, &argv);
    expect_early_returns();
    char const* how = argc > 1 ? argv[1] : "return";
    int const sender_dies = strcmp(how, "sender_dies") == 0;
    if (strcmp(how, "mpi_abort") == 0 || sender_dies) hold_ms = 200;
    buffer = whole_pages(k_bytes, 1);
    if (!receives()) fill(buffer, k_bytes, (unsigned)me);
    if (partner() < 0) {
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (receives()) {
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Recv(buffer, k_bytes, MPI_BYTE, partner(), 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        count_touch(buffer + k_bytes / 2);
        if (!sender_dies) say("received");  // without the layer the receive does not return
        if (sender_dies) {
            say_bytes("data", buffer, k_bytes);
            MPI_Barrier(MPI_COMM_WORLD);
        }
        end_as(how);
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
        if (sender_dies) die_in_mid_transfer();
        send_slowly(buffer, k_bytes, partner(), 1);
        // The launcher ends this process, too. What MPI_Finalize says of a partner that is gone may be told first.
        while (ends_at_once(how))
            pause();
        say("sent");
    }
    MPI_Finalize();
    return 0;
}
