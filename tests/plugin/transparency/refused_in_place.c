/* SPDX-License-Identifier: BSD-3-Clause */
// All-to-alls in place that Sluice would serve, with one argument that MPI refuses: on both ranks, then on rank 0 alone
// while rank 1 is in the right call already. Buffers at address 0 are right where the addresses are in the datatypes or
// displacements. What one of the MPIs reads through itself is left out there.
#include <string.h>
#include <sys/mman.h>

#include "handled.h"

enum { k_block = 1 << 16 };  // elements of a block, and extents between blocks

static int counts[2] = {k_block, k_block};
static int ones[2] = {1, 1};
static int none[2] = {0, 0};
static int negative[2] = {k_block, -1};
static int places[2] = {0, k_block};
static int byte_places[2] = {0, k_block * 4};
static MPI_Datatype ints[2];
static MPI_Datatype wrong[2];
static MPI_Datatype gaps[2];
static MPI_Datatype loose[2];     // not committed
static MPI_Datatype below[2];     // elements that follow each other in reverse
static MPI_Datatype absolute[2];  // the blocks of `low`
static int* data;
static int* low;  // below 2 GiB, so that an int can hold the address

static void make(void) {
    size_t const bytes = (size_t)4 * k_block * sizeof *data;
    int const length = k_block;
    data = room(bytes);
    low = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
    for (int i = 0; i < 2; ++i) {
        MPI_Aint const at = (MPI_Aint)(low + i * k_block);
        ints[i] = MPI_INT;
        wrong[i] = wrong_type();
        MPI_Type_contiguous(2, MPI_INT, &loose[i]);
        MPI_Type_vector(k_block / 2, 1, 2, MPI_INT, &gaps[i]);
        MPI_Type_commit(&gaps[i]);
        MPI_Type_create_resized(MPI_INT, -4, 16, &below[i]);
        MPI_Type_commit(&below[i]);
        MPI_Type_create_hindexed(1, &length, &at, MPI_INT, &absolute[i]);
        MPI_Type_commit(&absolute[i]);
    }
}

static void free_all(void) {
    for (int i = 0; i < 2; ++i) {
        MPI_Type_free(&loose[i]);
        MPI_Type_free(&gaps[i]);
        MPI_Type_free(&below[i]);
        MPI_Type_free(&absolute[i]);
    }
    free(data);
}

// The arguments before the receiving ones, which MPI ignores.
#define FROM_HERE MPI_IN_PLACE, 0, MPI_INT
#define FROM_HERE_V MPI_IN_PLACE, NULL, NULL, MPI_INT
#define FROM_HERE_W MPI_IN_PLACE, NULL, NULL, NULL

static void wrong_buffers(MPI_Comm comm) {
    MPI_Request request = MPI_REQUEST_NULL;
    HANDLED(MPI_Alltoall(FROM_HERE, MPI_IN_PLACE, k_block, MPI_INT, comm));
    HANDLED(MPI_Alltoallv(FROM_HERE_V, MPI_IN_PLACE, counts, places, MPI_INT, comm));
    HANDLED(MPI_Alltoallw(FROM_HERE_W, MPI_IN_PLACE, counts, byte_places, ints, comm));
    HANDLED(MPI_Ialltoallw(FROM_HERE_W, MPI_IN_PLACE, counts, byte_places, ints, comm, &request));
#ifdef MPICH_VERSION  // Open MPI writes to address 0
    HANDLED(MPI_Alltoall(FROM_HERE, NULL, k_block, MPI_INT, comm));
    HANDLED(MPI_Alltoall(FROM_HERE, NULL, 4, gaps[0], comm));
    HANDLED(MPI_Alltoall(FROM_HERE, NULL, k_block, below[0], comm));
    HANDLED(MPI_Alltoallv(FROM_HERE_V, NULL, counts, places, MPI_INT, comm));
    HANDLED(MPI_Alltoallv(FROM_HERE_V, NULL, ones, places, gaps[0], comm));
    HANDLED(MPI_Alltoallw(FROM_HERE_W, NULL, counts, byte_places, ints, comm));
    HANDLED(MPI_Alltoallw(FROM_HERE_W, NULL, ones, byte_places, gaps, comm));
    HANDLED(MPI_Ialltoallw(FROM_HERE_W, NULL, counts, byte_places, ints, comm, &request));
    HANDLED(MPI_Ialltoallw(FROM_HERE_W, NULL, ones, byte_places, gaps, comm, &request));
#endif
}

static void wrong_numbers(MPI_Comm comm) {
    MPI_Request request = MPI_REQUEST_NULL;
    HANDLED(MPI_Alltoall(FROM_HERE, data, -1, MPI_INT, comm));
    HANDLED(MPI_Alltoallv(FROM_HERE_V, data, negative, places, MPI_INT, comm));
    HANDLED(MPI_Alltoallw(FROM_HERE_W, data, negative, byte_places, ints, comm));
    HANDLED(MPI_Ialltoallw(FROM_HERE_W, data, negative, byte_places, ints, comm, &request));
#ifdef MPICH_VERSION
    HANDLED(MPI_Ialltoallw(FROM_HERE_W, data, counts, byte_places, ints, comm, NULL));
#else  // MPICH reads the arrays
    HANDLED(MPI_Alltoallv(FROM_HERE_V, data, NULL, places, MPI_INT, comm));
    HANDLED(MPI_Alltoallv(FROM_HERE_V, data, counts, NULL, MPI_INT, comm));
    HANDLED(MPI_Alltoallw(FROM_HERE_W, data, NULL, byte_places, ints, comm));
    HANDLED(MPI_Alltoallw(FROM_HERE_W, data, counts, NULL, ints, comm));
    HANDLED(MPI_Alltoallw(FROM_HERE_W, data, counts, byte_places, NULL, comm));
    HANDLED(MPI_Ialltoallw(FROM_HERE_W, data, NULL, byte_places, ints, comm, &request));
    HANDLED(MPI_Ialltoallw(FROM_HERE_W, data, counts, NULL, ints, comm, &request));
    HANDLED(MPI_Ialltoallw(FROM_HERE_W, data, counts, byte_places, NULL, comm, &request));
#endif
}

static void wrong_handles(MPI_Comm comm) {
    MPI_Request request = MPI_REQUEST_NULL;
    HANDLED(MPI_Alltoall(FROM_HERE, data, k_block, MPI_INT, wrong_comm()));
    HANDLED(MPI_Alltoallv(FROM_HERE_V, data, counts, places, MPI_INT, wrong_comm()));
    HANDLED(MPI_Alltoallw(FROM_HERE_W, data, counts, byte_places, ints, wrong_comm()));
    HANDLED(MPI_Ialltoallw(FROM_HERE_W, data, counts, byte_places, ints, wrong_comm(), &request));
    for (int way = 0; way < 2; ++way) {
        MPI_Datatype* const types = way == 0 ? wrong : loose;
        HANDLED(MPI_Alltoall(FROM_HERE, data, k_block, types[0], comm));
        HANDLED(MPI_Alltoallv(FROM_HERE_V, data, counts, places, types[0], comm));
        HANDLED(MPI_Alltoallw(FROM_HERE_W, data, counts, byte_places, types, comm));
        HANDLED(MPI_Ialltoallw(FROM_HERE_W, data, counts, byte_places, types, comm, &request));
        HANDLED(MPI_Alltoallv(FROM_HERE_V, data, none, places, types[0], comm));
    }
}

// One of the MPIs refuses these, and the other does not look at them: no rank waits in them for another.
static void of_no_elements(MPI_Comm comm) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Datatype* const types[2] = {loose, wrong};
    HANDLED(MPI_Alltoall(FROM_HERE, MPI_IN_PLACE, 0, MPI_INT, comm));
    HANDLED(MPI_Alltoallv(FROM_HERE_V, MPI_IN_PLACE, none, places, MPI_INT, comm));
    HANDLED(MPI_Alltoallw(FROM_HERE_W, MPI_IN_PLACE, none, byte_places, ints, comm));
    HANDLED(MPI_Ialltoallw(FROM_HERE_W, MPI_IN_PLACE, none, byte_places, ints, comm, &request));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int way = 0; way < 2; ++way) {
        HANDLED(MPI_Alltoallw(FROM_HERE_W, data, none, byte_places, types[way], comm));
#ifdef MPICH_VERSION
        if (types[way] == wrong) continue;  // its assertion fails
#endif
        HANDLED(MPI_Ialltoallw(FROM_HERE_W, data, none, byte_places, types[way], comm, &request));
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    HANDLED(MPI_Alltoallv(FROM_HERE_V, NULL, none, places, MPI_INT, comm));
    HANDLED(MPI_Alltoallw(FROM_HERE_W, NULL, none, byte_places, ints, comm));
}

// What is right on one rank with a buffer and on the other with addresses: both go the same way.
static void at_address_0(MPI_Comm comm, int ways) {
    int const at = (int)(intptr_t)low;
    int const at_ints[2] = {at / 4, at / 4 + k_block};
    int const at_bytes[2] = {at, at + 4 * k_block};
    int const nowhere[2] = {0, 0};
    int const absolute_here = ways == 2 || me == 0;
    size_t const bytes = (size_t)2 * k_block * sizeof *low;
    fill(low, bytes, 5U + (unsigned)me);
    if (absolute_here)
        HANDLED(MPI_Alltoallv(FROM_HERE_V, MPI_BOTTOM, counts, at_ints, MPI_INT, comm));
    else
        MPI_Alltoallv(FROM_HERE_V, low, counts, places, MPI_INT, comm);
    say_bytes("absolute displacements in extents", low, bytes);
    if (absolute_here)
        HANDLED(MPI_Alltoallw(FROM_HERE_W, MPI_BOTTOM, counts, at_bytes, ints, comm));
    else
        MPI_Alltoallw(FROM_HERE_W, low, counts, byte_places, ints, comm);
    say_bytes("absolute displacements in bytes", low, bytes);
    if (absolute_here)
        HANDLED(MPI_Alltoallw(FROM_HERE_W, MPI_BOTTOM, ones, nowhere, absolute, comm));
    else
        MPI_Alltoallw(FROM_HERE_W, low, counts, byte_places, ints, comm);
    say_bytes("absolute types", low, bytes);
}

// Rank 0 alone is wrong, and then right.
static void rank_0_is_wrong(MPI_Comm comm) {
    if (me == 0) HANDLED(MPI_Alltoall(FROM_HERE, MPI_IN_PLACE, k_block, MPI_INT, comm));
    all_to_all(comm, "after a wrong buffer of rank 0");
    if (me == 0) HANDLED(MPI_Alltoallv(FROM_HERE_V, MPI_IN_PLACE, counts, places, MPI_INT, comm));
    all_to_all(comm, "after another");
    if (me == 0) wrong_buffers(comm);
    all_to_all(comm, "after wrong buffers of rank 0");
    if (me == 0) wrong_numbers(comm);
    all_to_all(comm, "after wrong numbers of rank 0");
    if (me == 0) wrong_handles(comm);
    all_to_all(comm, "after wrong handles of rank 0");
}

int main(int argc, char** argv) {
    begin(&argc, &argv);
    MPI_Errhandler counting;
    MPI_Comm copy;
    make();
    MPI_Comm_create_errhandler(count_comm, &counting);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, counting);
    for (int way = 0; way < 2; ++way) {
        MPI_Comm_set_errhandler(copy, way == 0 ? MPI_ERRORS_RETURN : counting);
        wrong_buffers(copy);
        wrong_numbers(copy);
        wrong_handles(copy);
        of_no_elements(copy);
        all_to_all(copy, "after refused calls");
        rank_0_is_wrong(copy);
        at_address_0(copy, 2);
        at_address_0(copy, 1);
    }
    free_all();
    MPI_Comm_free(&copy);
    MPI_Errhandler_free(&counting);
    return end();
}
