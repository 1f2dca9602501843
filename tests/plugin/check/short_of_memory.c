/* SPDX-License-Identifier: BSD-3-Clause */
// Calls under --check while the plugin's allocations fail on the last rank. That rank knows less of what it calls, but
// it must still send what the other ranks wait for. Afterwards calls are checked again.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fails, failed_allocations, me, ranks, failed;

void* __libc_malloc(size_t bytes);

static int is_of_plugin(void const* address) {
    Dl_info place;
    return dladdr(address, &place) != 0 && strstr(place.dli_fname, "sluice-preload") != NULL;
}

// Takes the place of the C library's for all libraries of the process.
void* malloc(size_t bytes) {
    if (fails && is_of_plugin(__builtin_return_address(0))) {
        ++failed_allocations;
        return NULL;
    }
    return __libc_malloc(bytes);
}

static void right(int condition, char const* what) {
    if (condition) return;
    ++failed;
    printf("rank %d: %s is wrong\n", me, what);
}

enum { k_most = 16 };

static void right_calls(void) {
    int counts[k_most], places[k_most], bytes[k_most], mine[4] = {me, me, me, me}, all[4 * k_most] = {0};
    MPI_Datatype types[k_most], three;
    MPI_Type_vector(3, 1, 1, MPI_INT, &three);
    MPI_Type_commit(&three);
    for (int i = 0; i < ranks; ++i) {
        counts[i] = 1;
        places[i] = i;
        bytes[i] = 4 * i * (int)sizeof(int);
        types[i] = three;
    }
    fails = me == ranks - 1;
    int code = MPI_Allgatherv(mine, 1, MPI_INT, all, counts, places, MPI_INT, MPI_COMM_WORLD);
    right(code == MPI_SUCCESS && all[ranks - 1] == ranks - 1, "an allgatherv");
    code = MPI_Bcast(mine, 1, three, 0, MPI_COMM_WORLD);
    right(code == MPI_SUCCESS && mine[2] == 0, "a broadcast of a derived type");
    code = MPI_Gather(mine, 1, three, all, 1, three, 0, MPI_COMM_WORLD);
    right(code == MPI_SUCCESS, "a gather of a derived type");
    code = MPI_Alltoallw(all, counts, bytes, types, all + 2 * k_most, counts, bytes, types, MPI_COMM_WORLD);
    right(code == MPI_SUCCESS, "an all-to-all of derived types");
    fails = 0;
    MPI_Type_free(&three);
}

static void wrong_calls(void) {
    int data[8] = {0};
    fails = me == ranks - 1;
    int const code = me == 0 ? MPI_Bcast(data, 1, MPI_INT, 0, MPI_COMM_WORLD) : MPI_Barrier(MPI_COMM_WORLD);
    fails = 0;
    right(code != MPI_SUCCESS, "that two functions are one call");
    int const again = MPI_Bcast(data, me == 0 ? 1 : 2, MPI_INT, 0, MPI_COMM_WORLD);
    right(again != MPI_SUCCESS, "a check with memory again");
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    right(ranks <= k_most, "the number of ranks");
    right_calls();
    wrong_calls();
    right(me != ranks - 1 || failed_allocations > 0, "that an allocation failed");
    printf("rank %d: %d wrong, %d allocations failed\n", me, failed, failed_allocations);
    MPI_Finalize();
    return failed != 0;
}
