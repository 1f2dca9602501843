/* SPDX-License-Identifier: BSD-3-Clause */
// A program without MPI that would use MPI if it were there: by weak references, and with "find" by looking its
// functions up in the whole process. Tells what each gives.
#define _GNU_SOURCE  // RTLD_DEFAULT
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

typedef long handle;  // of any MPI
#pragma weak MPI_Init
#pragma weak MPI_Comm_rank
#pragma weak MPI_Sendrecv
#pragma weak MPI_Abort
#pragma weak MPI_Initialized
#pragma weak MPI_Finalized
#pragma weak MPI_Wtime
#pragma weak MPI_Wtick
int MPI_Init(int* argc, char*** argv);
int MPI_Comm_rank(handle comm, int* rank);
int MPI_Sendrecv(void const* out, int number, handle type, int to, int tag, void* in, int room, handle of, int from,
                 int by, handle comm, void* status);
int MPI_Abort(handle comm, int code);
int MPI_Initialized(int* flag);
int MPI_Finalized(int* flag);
double MPI_Wtime(void);
double MPI_Wtick(void);

static void tell(char const* name, int code) {
    printf("%s: %s\n", name, code == 0 ? "success" : "an error");
}

static void by_weak_references(void) {
    int value = -1;
    if (MPI_Comm_rank == NULL) {
        puts("no MPI");
        return;
    }
    for (int i = 0; i < 2; ++i)
        tell("MPI_Comm_rank", MPI_Comm_rank(0x44000000, &value));
    tell("MPI_Init", MPI_Init(NULL, NULL));
    tell("MPI_Sendrecv", MPI_Sendrecv(NULL, 0, 0, 0, 0, NULL, 0, 0, 0, 0, 0, NULL));
    tell("MPI_Abort", MPI_Abort(0x44000000, 3));
    tell("MPI_Initialized", MPI_Initialized(&value));
    printf("initialized %d\n", value);
    value = -1;
    tell("MPI_Finalized", MPI_Finalized(&value));
    printf("finalized %d\n", value);
    double const begin = MPI_Wtime();
    double now = begin;
    while (now == begin)
        now = MPI_Wtime();
    printf("time goes %s, tick %s\n", now > begin ? "on" : "back",
           MPI_Wtick() > 0 && MPI_Wtick() < 1 ? "seconds" : "wrong");
}

static void by_names(void) {
    int (*rank)(handle, int*) = NULL;
    int (*initialized)(int*) = NULL;
    *(void**)&rank = dlsym(RTLD_DEFAULT, "MPI_Comm_rank");
    *(void**)&initialized = dlsym(RTLD_DEFAULT, "PMPI_Initialized");
    int value = -1;
    if (initialized != NULL) {
        int const code = initialized(&value);
        printf("PMPI_Initialized: %d, %d\n", code, value);
    }
    if (rank != NULL) tell("MPI_Comm_rank", rank(0x44000000, &value));
    puts("done");
}

int main(int argc, char** argv) {
    if (argc > 1 && strcmp(argv[1], "find") == 0)
        by_names();
    else if (argc > 1 && strcmp(argv[1], "ask") == 0)
        printf("%d\n", MPI_Initialized != NULL && MPI_Initialized(&argc) != 0);
    else
        by_weak_references();
    return 0;
}
