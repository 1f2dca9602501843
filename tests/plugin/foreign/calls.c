/* SPDX-License-Identifier: BSD-3-Clause */
// What a program observes of calls with handles of every kind, in registers and on the stack: a line for each, on every
// rank.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, ranks;

static void tell(char const* what, int code, long value) {
    printf("%d/%d %s: %d, %ld\n", rank, ranks, what, code, value);
}

static void largest(void* in, void* out, int* count, MPI_Datatype* type) {
    (void)type;
    for (int i = 0; i < *count; ++i)
        if (((int*)in)[i] > ((int*)out)[i]) ((int*)out)[i] = ((int*)in)[i];
}

static void messages(MPI_Comm comm) {
    int const right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
    int sent = 100 + rank, got = -1;
    MPI_Status status;
    int code = MPI_Sendrecv(&sent, 1, MPI_INT, right, 7, &got, 1, MPI_INT, left, 7, comm, &status);
    tell("MPI_Sendrecv", code, got + 1000 * status.MPI_TAG);
    MPI_Request requests[2];
    code = MPI_Irecv(&got, 1, MPI_INT, left, 8, comm, &requests[0]);
    tell("MPI_Irecv", code, 0);
    code = MPI_Isend(&sent, 1, MPI_INT, right, 8, comm, &requests[1]);
    tell("MPI_Isend", code, 0);
    MPI_Status statuses[2];
    code = MPI_Waitall(2, requests, statuses);
    tell("MPI_Waitall", code, got + 1000 * statuses[0].MPI_TAG);
    MPI_Request request;
    int done = 0;
    code = MPI_Ibarrier(comm, &request);
    while (!done)
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    tell("MPI_Ibarrier", code, request == MPI_REQUEST_NULL);
}

static void collectives(MPI_Comm comm) {
    int* const of = calloc((size_t)(6 * ranks), sizeof(int));
    MPI_Datatype* const types = malloc(2 * (size_t)ranks * sizeof(MPI_Datatype));
    if (of == NULL || types == NULL) exit(3);
    int *const counts = of, *const places = of + ranks, *const out = of + 2 * ranks, *const in = of + 3 * ranks;
    for (int i = 0; i < ranks; ++i) {
        counts[i] = 1;
        places[i] = i * (int)sizeof(int);
        out[i] = 10 * rank + i;
        types[i] = MPI_INT;
    }
    int code = MPI_Alltoallw(out, counts, places, types, in, counts, places, types, comm);
    tell("MPI_Alltoallw", code, in[ranks - 1]);
    for (int i = 0; i < ranks; ++i)
        places[i] = i;
    code = MPI_Alltoallv(out, counts, places, MPI_INT, in, counts, places, MPI_INT, comm);
    tell("MPI_Alltoallv", code, in[0]);
    int value = rank == 0 ? 5 : 0;
    code = MPI_Bcast(&value, 1, MPI_INT, 0, comm);
    tell("MPI_Bcast", code, value);
    code = MPI_Gatherv(&rank, 1, MPI_INT, in, counts, places, MPI_INT, 0, comm);
    tell("MPI_Gatherv", code, rank == 0 ? in[ranks - 1] : 0);
    MPI_Op op;
    code = MPI_Op_create(largest, 1, &op);
    tell("MPI_Op_create", code, 0);
    int most = -1;
    code = MPI_Allreduce(&rank, &most, 1, MPI_INT, op, comm);
    tell("MPI_Allreduce", code, most);
    tell("MPI_Op_free", MPI_Op_free(&op), op == MPI_OP_NULL);
    free(types);
    free(of);
}

static void types(MPI_Comm comm) {
    int lengths[2] = {1, 2};
    MPI_Aint const places[2] = {0, 8};
    MPI_Datatype parts[2] = {MPI_INT, MPI_DOUBLE}, type, copy, found[2];
    tell("MPI_Type_create_struct", MPI_Type_create_struct(2, lengths, places, parts, &type), 0);
    tell("MPI_Type_commit", MPI_Type_commit(&type), 0);
    tell("MPI_Type_dup", MPI_Type_dup(type, &copy), 0);
    int bytes = 0, integers[3] = {0};
    tell("MPI_Type_size", MPI_Type_size(copy, &bytes), bytes);
    MPI_Aint addresses[2];
    tell("MPI_Type_get_contents", MPI_Type_get_contents(type, 3, 2, 2, integers, addresses, found),
         found[1] == MPI_DOUBLE);
    char packed[64];
    struct {
        int first;
        double others[2];
    } value = {1, {2, 3}};
    int at = 0;
    tell("MPI_Pack", MPI_Pack(&value, 1, type, packed, (int)sizeof packed, &at, comm), at);
    tell("MPI_Type_free", MPI_Type_free(&copy), copy == MPI_DATATYPE_NULL);
    MPI_Type_free(&type);
}

static int copies(MPI_Comm comm, int key, void* extra, void* in, void* out, int* keep) {
    (void)comm, (void)key;
    *(void**)out = in;
    ++*(int*)extra;
    *keep = 1;
    return MPI_SUCCESS;
}

static void communicators(void) {
    int key, copied = 0, found = 0;
    void* value = NULL;
    MPI_Comm half, copy, grid;
    tell("MPI_Comm_create_keyval", MPI_Comm_create_keyval(copies, MPI_COMM_NULL_DELETE_FN, &key, &copied), 0);
    tell("MPI_Comm_split", MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half), 0);
    tell("MPI_Comm_set_attr", MPI_Comm_set_attr(half, key, &rank), 0);
    tell("MPI_Comm_dup", MPI_Comm_dup(half, &copy), copied);
    tell("MPI_Comm_get_attr", MPI_Comm_get_attr(copy, key, &value, &found), found && value == &rank);
    int const dimensions[1] = {ranks}, periods[1] = {1};
    tell("MPI_Cart_create", MPI_Cart_create(MPI_COMM_WORLD, 1, dimensions, periods, 0, &grid), 0);
    int left = -1, right = -1;
    tell("MPI_Cart_shift", MPI_Cart_shift(grid, 0, 1, &left, &right), left + 10 * right);
    MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
    int const code = MPI_Send(&left, 1, MPI_INT, 1000, 0, copy);
    int class = -1;
    MPI_Error_class(code, &class);
    tell("MPI_Error_class", code != MPI_SUCCESS, class == MPI_ERR_RANK);
    tell("MPI_Comm_free", MPI_Comm_free(&copy), copy == MPI_COMM_NULL);
    MPI_Comm_free(&half);
    MPI_Comm_free(&grid);
    MPI_Comm_free_keyval(&key);
}

static void windows(MPI_Comm comm) {
    int memory = -1;
    MPI_Win win;
    tell("MPI_Win_create", MPI_Win_create(&memory, sizeof memory, sizeof memory, MPI_INFO_NULL, comm, &win), 0);
    MPI_Win_fence(0, win);
    int const value = 50 + rank;
    tell("MPI_Put", MPI_Put(&value, 1, MPI_INT, (rank + 1) % ranks, 0, 1, MPI_INT, win), 0);
    MPI_Win_fence(0, win);
    tell("MPI_Win_fence", 0, memory);
    tell("MPI_Win_free", MPI_Win_free(&win), win == MPI_WIN_NULL);
}

int main(int argc, char** argv) {
    int level = -1;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    int const code = MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    tell("MPI_Comm_rank", code, rank);
    tell("MPI_Query_thread", MPI_Query_thread(&level), level >= MPI_THREAD_FUNNELED);
    messages(MPI_COMM_WORLD);
    collectives(MPI_COMM_WORLD);
    types(MPI_COMM_WORLD);
    communicators();
    if (ranks > 1) windows(MPI_COMM_WORLD);  // of memory of one rank's own alone Open MPI 4.1.4 makes none
    MPI_Finalize();
    return 0;
}
