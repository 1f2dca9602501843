/* SPDX-License-Identifier: BSD-3-Clause */
// ways MODE [COMMAND]
//   start    rank 0 runs COMMAND between MPI_Init and MPI_Finalize
//   early    both ranks run COMMAND before MPI_Init
//   leave    each rank goes to the folder COMMAND between MPI_Init and MPI_Finalize
//   hello    rank 0 prints the number of ranks
//   finalize the library COMMAND is opened, and its MPI_Finalize called through the handle
//   reaper   the ranks collect orphans, and count their children after MPI_Finalize
//   threads  MPI_THREAD_MULTIPLE and no all-to-all; with COMMAND "inplace" three all-to-alls in place of 128 KiB a pair
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static int rank, ranks;

static void run(char const* command) {
    int const status = system(command);
    if (status == -1 || !WIFEXITED(status)) exit(3);
    printf("inner status %d\n", WEXITSTATUS(status));
    fflush(stdout);
}

static void exchange(void) {
    enum { k_each = 32768 };
    int* const data = calloc((size_t)(ranks * k_each), sizeof(int));
    if (data == NULL) exit(3);
    for (int i = 0; i < 3; ++i)
        MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, k_each, MPI_INT, MPI_COMM_WORLD);
    free(data);
}

static int finalize_by_handle(char const* library) {
    void* const handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    int (*finalize)(void) = NULL;
    if (handle != NULL) *(void**)&finalize = dlsym(handle, "MPI_Finalize");
    return finalize == NULL ? 3 : finalize();
}

int main(int argc, char** argv) {
    char const* const mode = argc > 1 ? argv[1] : "hello";
    char const* const command = argc > 2 ? argv[2] : "";
    int const threads = strcmp(mode, "threads") == 0;
    if (strcmp(mode, "early") == 0) run(command);
    int const reaper = strcmp(mode, "reaper") == 0;
    if (reaper) prctl(PR_SET_CHILD_SUBREAPER, 1);
    int provided = 0;
    MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (strcmp(mode, "start") == 0 && rank == 0) run(command);
    if (strcmp(mode, "leave") == 0 && chdir(command) != 0) exit(3);
    if (strcmp(mode, "hello") == 0 && rank == 0) printf("hello from %d\n", ranks);
    if (threads && strcmp(command, "inplace") == 0) exchange();
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(mode, "finalize") == 0 && (argc < 4 || atoi(argv[3]) == rank)) return finalize_by_handle(command);
    MPI_Finalize();
    int children = 0;
    while (reaper && waitpid(-1, NULL, 0) > 0)
        ++children;
    if (reaper) printf("children %d\n", children);
    return 0;
}
