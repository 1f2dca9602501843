/* SPDX-License-Identifier: BSD-3-Clause */
// Programs that end in unusual ways: ends HOW. All ranks first print a line, meet in a barrier, and then
//   fork_exit, fork__exit  have a child that ends by exit or _exit, and go on
//   exec                   before MPI_Init replace themselves by this program with "plain"
//   no_finalize            return without MPI_Finalize
//   exit_all               call exit(4)
//   abort                  rank 0 calls MPI_Abort(…, 3), the others wait for a message that never comes
//   kill, terminate        the last rank sends itself SIGKILL or SIGTERM, the others wait
//   late_exit              the last rank ends by _exit(5) in a function of atexit, after the other processes have ended
//                          (a launcher ends those that still run when it sees the exit code)
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "transcript.h"

static void exchange(void) {
    enum { k_each = 20000 };
    int* data = room(sizeof(int) * (size_t)(k_each * ranks));
    for (int i = 0; i < k_each * ranks; ++i)
        data[i] = me * 31 + i;
    CALL(MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, k_each, MPI_INT, MPI_COMM_WORLD));
    say_bytes("exchanged", data, sizeof(int) * (size_t)(k_each * ranks));
    free(data);
}

static void with_child(int by_exit) {
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        if (by_exit) exit(7);
        _exit(8);
    }
    int status = -1;
    waitpid(child, &status, 0);
    say("child ended by itself %d with %d", WIFEXITED(status), WEXITSTATUS(status));
    exchange();
}

static void wait_for_ever(void) {
    int never = 0;
    MPI_Recv(&never, 1, MPI_INT, MPI_ANY_SOURCE, 12345, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static pid_t* processes = NULL;  // of the ranks, on the last one

// A process whose parent has not asked for its exit code yet has ended, too.
static int still_runs(pid_t process) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)process);
    FILE* file = fopen(path, "r");
    if (file == NULL) return 0;
    char state = 'Z';
    int const read = fscanf(file, "%*d (%*[^)]) %c", &state);
    fclose(file);
    return read == 1 && state != 'Z' && state != 'X';
}

static void exit_after_the_others(void) {
    struct timespec const pause = {0, 1000000};
    for (int rank = 0; rank < ranks - 1; ++rank)
        while (still_runs(processes[rank]))
            nanosleep(&pause, NULL);
    _exit(5);
}

static void prepare_late_exit(void) {
    long const process = (long)getpid();
    long* gathered = room(sizeof(long) * (size_t)ranks);
    MPI_Gather(&process, 1, MPI_LONG, gathered, 1, MPI_LONG, ranks - 1, MPI_COMM_WORLD);
    if (me == ranks - 1) {
        processes = room(sizeof(pid_t) * (size_t)ranks);
        for (int rank = 0; rank < ranks; ++rank)
            processes[rank] = (pid_t)gathered[rank];
        atexit(exit_after_the_others);
    }
    free(gathered);
}

int main(int argc, char** argv) {
    char const* how = argc > 1 ? argv[1] : "plain";
    if (strcmp(how, "exec") == 0) {
        execl(argv[0], argv[0], "plain", (char*)NULL);
        perror(argv[0]);
        return 99;
    }
    begin(&argc, &argv);
    printf("rank %d ends by %s\n", me, how);
    fflush(stdout);
    exchange();
    MPI_Barrier(MPI_COMM_WORLD);
    if (strncmp(how, "fork", 4) == 0) with_child(strcmp(how, "fork_exit") == 0);
    if (strcmp(how, "no_finalize") == 0) return 0;
    if (strcmp(how, "exit_all") == 0) exit(4);
    if (strcmp(how, "abort") == 0) {
        if (me == 0) MPI_Abort(MPI_COMM_WORLD, 3);
        wait_for_ever();
    }
    if (strcmp(how, "kill") == 0 || strcmp(how, "terminate") == 0) {
        if (me == ranks - 1) raise(strcmp(how, "kill") == 0 ? SIGKILL : SIGTERM);
        wait_for_ever();
    }
    if (strcmp(how, "late_exit") == 0) prepare_late_exit();
    return end();
}
