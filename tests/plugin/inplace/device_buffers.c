/* SPDX-License-Identifier: BSD-3-Clause */
// device_buffers STAND_IN early|late: an in-place all-to-all in which rank 0's buffer is said to be memory of a device.
// The stand-in for the device's library is loaded by rank 0 before MPI_Init or after it. The result must be right on
// all ranks; prints "MPI exchanged" and "Sluice exchanged" how many of the calls, by what MPI's own tool interface saw
// below Sluice.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBERS = 40000, CALLS = 3 };

static int value(int from, int to, int i) {
    return from * 1000003 + to * 50021 + i;
}

int main(int argc, char** argv) {
    int rank, ranks, wrong = 0, all_wrong = 0, seen = 0;
    int const early = argc == 3 && strcmp(argv[2], "early") == 0;
    void (*range)(void const*, size_t, int) = NULL;
    char const* const number = getenv("PMI_RANK") != NULL ? getenv("PMI_RANK") : getenv("OMPI_COMM_WORLD_RANK");
    if (early && number != NULL && strcmp(number, "0") == 0 && dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) == NULL) return 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    size_t const bytes = (size_t)ranks * NUMBERS * sizeof(int);
    int* const buffer = malloc(bytes);
    if (rank == 0) {
        void* const library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
        if (library == NULL) return 2;
        *(void**)&range = dlsym(library, "stand_in_range");
        range(buffer, bytes, 0);
    }
    int* const calls_of_mpi = (int*)dlsym(RTLD_DEFAULT, "alltoalls_seen_below");
    MPI_Datatype pairs; /* with a gap between the two halves of a block */
    MPI_Type_vector(NUMBERS / 2, 1, 2, MPI_INT, &pairs);
    MPI_Type_create_resized(pairs, 0, NUMBERS * sizeof(int), &pairs);
    MPI_Type_commit(&pairs);
    for (int call = 0; call < CALLS; ++call) {
        int const every = call == 2 ? 2 : 1;
        for (int peer = 0; peer < ranks; ++peer)
            for (int i = 0; i < NUMBERS; ++i)
                buffer[peer * NUMBERS + i] = value(rank, peer, i);
        if (call == 0)
            MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, buffer, NUMBERS, MPI_INT, MPI_COMM_WORLD);
        else if (call == 1)
            MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, buffer, NUMBERS * 4, MPI_BYTE, MPI_COMM_WORLD);
        else
            MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, buffer, 1, pairs, MPI_COMM_WORLD);
        for (int peer = 0; peer < ranks; ++peer)
            for (int i = 0; i < NUMBERS; ++i)
                wrong += buffer[peer * NUMBERS + i] != (i % every == 0 ? value(peer, rank, i) : value(rank, peer, i));
    }
    seen = calls_of_mpi == NULL ? -1 : *calls_of_mpi;
    MPI_Type_free(&pairs);
    MPI_Allreduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("wrong %d, exchanged by MPI %d of %d\n", all_wrong, seen, CALLS);
    free(buffer);
    MPI_Finalize();
    return all_wrong != 0;
}
