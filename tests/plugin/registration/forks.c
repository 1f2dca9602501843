// SPDX-License-Identifier: BSD-3-Clause
// forks ROUNDS BYTES: between messages the program forks children, which write into the buffers, unmap them, end, or
// become another program. The messages of the parent stay right, and so do the children's copies. In the second half
// of the rounds the handler that runs last before fork() takes the time of a round. A helper that registers the next
// buffer meanwhile would keep it from the child.
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { k_round_ns = 20000000 };
static long g_handler_ns = 0;

static void take_time(long ns) {
    nanosleep(&(struct timespec){0, ns}, NULL);
}

static void before_fork(void) {
    take_time(g_handler_ns);
}

static int all_are(unsigned char const* memory, size_t bytes, unsigned char value) {
    for (size_t i = 0; i < bytes; ++i)
        if (memory[i] != value) return 0;
    return 1;
}

static void child(unsigned char* memory, size_t bytes, unsigned char value, int round) {
    if (!all_are(memory, bytes, value)) _exit(1);
    memset(memory, 0xdd, bytes);
    if (round % 3 == 1) munmap(memory, bytes);
    if (round % 3 == 2) execlp("true", "true", (char*)NULL);
    _exit(0);
}

int main(int count, char** arguments) {
    if (count < 3) return 2;
    int const rounds = atoi(arguments[1]);
    int const bytes = atoi(arguments[2]);
    pthread_atfork(before_fork, NULL, NULL);
    MPI_Init(&count, &arguments);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    unsigned char* const memory = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int wrong = 0;
    for (int round = 0; round < rounds; ++round) {
        unsigned char const value = (unsigned char)(round % 250 + 1);
        if (rank == 0) memset(memory, value, (size_t)bytes);
        if (rank == 0)
            MPI_Send(memory, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        else
            MPI_Recv(memory, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        g_handler_ns = round < rounds / 2 ? 0 : k_round_ns + round % 4 * (k_round_ns / 4);
        pid_t const made = fork();
        if (made == 0) child(memory, (size_t)bytes, value, round);
        if (round % 2 == 0 && rank == 0) memset(memory, value, (size_t)bytes);  // the parent writes after the fork
        int status = 0;
        waitpid(made, &status, 0);
        wrong += status != 0;
        wrong += !all_are(memory, (size_t)bytes, value);
        if (g_handler_ns == 0) take_time(k_round_ns);
    }
    printf("rank %d rounds %d wrong %d\n", rank, rounds, wrong);
    fflush(stdout);
    MPI_Finalize();
    return wrong != 0;
}
