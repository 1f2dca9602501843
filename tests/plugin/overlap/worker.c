/* SPDX-License-Identifier: BSD-3-Clause */
// A thread of the receiver answers what comes by a pipe, and counts in the block of the buffer of a receive, beside it.
// The sender asks it while its message is on its way, and makes no progress before the answer. MPI_THREAD_FUNNELED.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pending.h"
#include "transcript.h"

enum { k_bytes = 4 << 20, k_rounds = 5 };
typedef struct {
    long requests;
    unsigned char data[k_bytes];
} Block;

static Block* block;
static char paths[2][64];  // questions, answers

static int opened(int which, int flags) {
    int const file = open(paths[which], flags);
    if (file < 0) exit(90);
    return file;
}

static void* answer(void* none) {
    char word = 0;
    int const questions = opened(0, O_RDONLY);
    int const answers = opened(1, O_WRONLY);
    while (read(questions, &word, 1) == 1) {
        ++block->requests;
        if (write(answers, &word, 1) != 1) exit(91);
    }
    close(questions);
    close(answers);
    return none;
}

static void ask(void) {
    char word = 'x';
    int const questions = opened(0, O_WRONLY);
    int const answers = opened(1, O_RDONLY);
    for (int i = 0; i < k_rounds; ++i) {
        MPI_Request request;
        fill(block->data, k_bytes, (unsigned)i);
        MPI_Isend(block->data, k_bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &request);
        usleep(20000);  // the receiver has matched it
        if (write(questions, &word, 1) != 1 || read(answers, &word, 1) != 1) exit(92);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    close(questions);
    close(answers);
}

int main(int argc, char** argv) {
    begin(&argc, &argv);
    expect_early_returns();
    block = room(sizeof *block);
    memset(block, 0, sizeof *block);
    if (me == 0) {
        for (int i = 0; i < 2; ++i) {
            snprintf(paths[i], sizeof paths[i], "/tmp/sluice-worker-%d-%d", (int)getpid(), i);
            if (mkfifo(paths[i], 0600) != 0) exit(93);
        }
    }
    MPI_Bcast(paths, sizeof paths, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (me == 0) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, answer, NULL) != 0) exit(94);
        for (int i = 0; i < k_rounds; ++i) {
            MPI_Recv(block->data, k_bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            say_bytes("data", block->data, k_bytes);
        }
        pthread_join(thread, NULL);
        say("%ld requests", block->requests);
        for (int i = 0; i < 2; ++i)
            unlink(paths[i]);
    } else if (me == 1) {
        ask();
    }
    free(block);
    return end();
}
