/* SPDX-License-Identifier: BSD-3-Clause */
// A program that is not linked to MPI and loads it late: `late symbols LIBMPI` looks the functions up itself, as some
// languages do; `late library LIBRARY` loads a library that is linked to MPI, as Python does.
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static void* handle = NULL;

static void* find(char const* name) {
    void* found = dlsym(handle, name);
    if (found == NULL) printf("no %s\n", name);
    return found;
}

static int by_symbols(void) {
    int (*init)(int*, char***) = NULL;
    int (*finalize)(void) = NULL;
    int (*rank)(MPI_Comm, int*) = NULL;
    int (*allreduce)(void const*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm) = NULL;
    *(void**)&init = find("MPI_Init");
    *(void**)&finalize = find("MPI_Finalize");
    *(void**)&rank = find("MPI_Comm_rank");
    *(void**)&allreduce = find("MPI_Allreduce");
    if (init == NULL || finalize == NULL || rank == NULL || allreduce == NULL) return 3;
#ifdef OPEN_MPI
    MPI_Comm world = find("ompi_mpi_comm_world");
    MPI_Datatype type = find("ompi_mpi_int");
    MPI_Op sum_op = find("ompi_mpi_op_sum");
#else
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_Datatype type = MPI_INT;
    MPI_Op sum_op = MPI_SUM;
#endif
    int me = -1;
    int sum = -1;
    if (init(NULL, NULL) != 0) return 4;
    rank(world, &me);
    int one = me + 1;
    allreduce(&one, &sum, 1, type, sum_op, world);
    printf("rank %d: sum %d\n", me, sum);
    return finalize();
}

int main(int argc, char** argv) {
    if (argc < 3) return 2;
    handle = dlopen(argv[2], RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
        printf("%s\n", dlerror());
        return 2;
    }
    if (strcmp(argv[1], "symbols") == 0) return by_symbols();
    int (*run)(void) = NULL;
    *(void**)&run = find("run_late");
    return run != NULL ? run() : 3;
}
