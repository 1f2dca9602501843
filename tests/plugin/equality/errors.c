/* SPDX-License-Identifier: BSD-3-Clause */
// Erroneous calls under MPI_ERRORS_RETURN: each must return the class that it returns without a layer, must not hang,
// and must leave MPI usable. The errors are truncation, lists with errors in their statuses, and error handlers of the
// user on each kind of object.
#include <stdlib.h>
#include <string.h>

#include "transcript.h"

static int handled = 0;

static void on_comm_error(MPI_Comm* comm, int* code, ...) {
    int class = 0;
    MPI_Error_class(*code, &class);
    say("handler: class %d, world %d, self %d", class, *comm == MPI_COMM_WORLD, *comm == MPI_COMM_SELF);
    ++handled;
}
static void on_win_error(MPI_Win* window, int* code, ...) {
    (void)window;
    int class = 0;
    MPI_Error_class(*code, &class);
    say("window's handler: class %d", class);
    ++handled;
}

static void bad_arguments(void) {
    int data[64] = {0};
    int out[64] = {0};
    int counts[64] = {0};
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Comm const world = MPI_COMM_WORLD;
    CALL(MPI_Send(data, 1, MPI_INT, ranks, 0, world));
    CALL(MPI_Send(data, 1, MPI_INT, -5, 0, world));
    CALL(MPI_Send(data, -1, MPI_INT, 0, 0, world));
    CALL(MPI_Send(data, 1, MPI_INT, 0, -3, world));
    CALL(MPI_Send(data, 1, MPI_DATATYPE_NULL, 0, 0, world));
    CALL(MPI_Recv(data, 1, MPI_INT, ranks + 3, 0, world, MPI_STATUS_IGNORE));
    CALL(MPI_Irecv(data, -2, MPI_INT, 0, 0, world, &request));
    CALL(MPI_Isend(data, 1, MPI_INT, ranks, 0, world, &request));
    CALL(MPI_Bcast(data, 1, MPI_INT, ranks, world));
    CALL(MPI_Bcast(data, -1, MPI_INT, 0, world));
    CALL(MPI_Reduce(data, out, 1, MPI_INT, MPI_OP_NULL, 0, world));
#ifndef MPICH_VERSION  // MPICH 4.0.2 crashes in them
    CALL(MPI_Allreduce(data, out, -1, MPI_INT, MPI_SUM, world));
    CALL(MPI_Allreduce(data, out, 1, MPI_DATATYPE_NULL, MPI_SUM, world));
#endif
    CALL(MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, -1, MPI_INT, world));
    CALL(MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, 1, MPI_DATATYPE_NULL, world));
    CALL(MPI_Ialltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, -1, MPI_INT, world, &request));
    CALL(MPI_Ialltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, 1, MPI_DATATYPE_NULL, world, &request));
    counts[0] = -4;
    CALL(MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, data, counts, counts, MPI_INT, world));
    CALL(MPI_Ialltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, data, counts, counts, MPI_INT, world, &request));
    MPI_Datatype uncommitted;
    MPI_Type_contiguous(2, MPI_INT, &uncommitted);
    CALL(MPI_Send(data, 1, uncommitted, MPI_PROC_NULL, 0, world));
    CALL(MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, 1, uncommitted, world));
    MPI_Type_free(&uncommitted);
    CALL(MPI_Comm_split(world, -7, 0, &(MPI_Comm){MPI_COMM_NULL}));
    CALL(MPI_Cart_create(world, 1, (int[]){ranks + 1}, (int[]){0}, 0, &(MPI_Comm){MPI_COMM_NULL}));
    CALL(MPI_Type_contiguous(-1, MPI_INT, &uncommitted));
    CALL(MPI_Group_incl(MPI_GROUP_EMPTY, 1, (int[]){0}, &(MPI_Group){MPI_GROUP_NULL}));
    CALL(MPI_Comm_free_keyval(&(int){MPI_KEYVAL_INVALID}));
    CALL(MPI_Barrier(world));
}

// A message that is longer than its receive, with each way to complete the receive.
static void truncation(void) {
    char in[64];
    char out[64] = {0};
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Comm const self = MPI_COMM_SELF;
    for (int way = 0; way < 6; ++way) {
        MPI_Status status = untouched_status();
        int flag = 0;
        int index = -1;
        statuses[0] = statuses[1] = untouched_status();
        MPI_Isend(out, 64, MPI_CHAR, 0, 1, self, &requests[1]);
        if (way == 0) {
            CALL(MPI_Recv(in, 8, MPI_CHAR, 0, 1, self, &status));
            CALL(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
            continue;
        }
        MPI_Irecv(in, 8, MPI_CHAR, 0, 1, self, &requests[0]);
        switch (way) {
            case 1:
                CALL(MPI_Wait(&requests[0], &status));
                break;
            case 2:
                while (!flag)
                    called("test", MPI_Test(&requests[0], &flag, &status));
                break;
            case 3:
                CALL(MPI_Waitany(1, requests, &index, &status));
                break;
            case 4:
                CALL(MPI_Waitall(2, requests, statuses));
                for (int i = 0; i < 2; ++i) {
                    int class = -1;
                    MPI_Error_class(statuses[i].MPI_ERROR, &class);
                    say("status %d: class %d", i, class);
                }
                break;
            default:
                CALL(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
                break;
        }
        say("null: %d", requests[0] == MPI_REQUEST_NULL);
        CALL(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
    }
}

static void handlers(void) {
    MPI_Errhandler on_comm;
    MPI_Errhandler on_window;
    MPI_Errhandler found;
    int value = 0;
    CALL(MPI_Comm_create_errhandler(on_comm_error, &on_comm));
    CALL(MPI_Win_create_errhandler(on_win_error, &on_window));
    CALL(MPI_Comm_set_errhandler(MPI_COMM_WORLD, on_comm));
    CALL(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &found));
    say("mine: %d", found == on_comm);
    CALL(MPI_Errhandler_free(&found));
    CALL(MPI_Send(&value, 1, MPI_INT, ranks, 0, MPI_COMM_WORLD));
    CALL(MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, &value, -1, MPI_INT, MPI_COMM_WORLD));
    CALL(MPI_Bcast(&value, -1, MPI_INT, 0, MPI_COMM_WORLD));
    MPI_Comm copy;
    CALL(MPI_Comm_dup(MPI_COMM_WORLD, &copy));  // inherits the handler
    CALL(MPI_Send(&value, 1, MPI_INT, ranks, 0, copy));
    CALL(MPI_Comm_call_errhandler(copy, MPI_ERR_TAG));
    CALL(MPI_Comm_free(&copy));
    int class = 0;
    int code = 0;
    CALL(MPI_Add_error_class(&class));
    CALL(MPI_Add_error_code(class, &code));
    CALL(MPI_Add_error_string(code, "mine alone"));
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    CALL(MPI_Error_string(code, text, &length));
    say("\"%s\"", text);
    CALL(MPI_Comm_call_errhandler(MPI_COMM_WORLD, code));
    CALL(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));

    double* memory = NULL;
    MPI_Win window;
    CALL(MPI_Win_allocate(64, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window));
    CALL(MPI_Win_set_errhandler(window, on_window));
    CALL(MPI_Win_lock(MPI_LOCK_SHARED, ranks, 0, window));
    CALL(MPI_Win_fence(0, window));
    CALL(MPI_Put(&value, 1, MPI_INT, ranks, 0, 1, MPI_INT, window));
    CALL(MPI_Win_fence(0, window));
    CALL(MPI_Win_free(&window));
    CALL(MPI_Errhandler_free(&on_comm));
    CALL(MPI_Errhandler_free(&on_window));
    say("handled %d", handled);
}

int main(int argc, char** argv) {
    begin(&argc, &argv);
    bad_arguments();
    truncation();
    handlers();
    bad_arguments();
    return end();
}
