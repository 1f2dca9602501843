/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that make calls of MPI again and again and are cancelled. The requests are pending during calls that are no
 * cancellation points without Sluice, and the threads end in pthread_testcancel. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum { k_threads = 200, k_work = 300000 };
static MPI_Comm g_own;

static void* exchange(void* none) {
    char bytes[200] = "";
    for (;;) {
        pthread_testcancel();
        for (int volatile i = 0; i < k_work; ++i) {
        }
        MPI_Sendrecv(bytes, 8, MPI_CHAR, 0, 9, bytes + 100, 8, MPI_CHAR, 0, 9, g_own, MPI_STATUS_IGNORE);
    }
    return none;
}

int main(int count, char** words) {
    int level = 0;
    MPI_Init_thread(&count, &words, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_dup(MPI_COMM_SELF, &g_own);
    int cancelled = 0;
    for (int i = 0; i < k_threads; ++i) {
        pthread_t thread;
        void* result = NULL;
        pthread_create(&thread, NULL, exchange, NULL);
        usleep((useconds_t)(1500 + i % 100 * 20));
        pthread_cancel(thread);
        pthread_join(thread, &result);
        cancelled += result == PTHREAD_CANCELED;
    }
    MPI_Comm_free(&g_own);
    MPI_Finalize();
    printf("%d threads cancelled\n", cancelled);
    return cancelled == k_threads ? 0 : 1;
}
