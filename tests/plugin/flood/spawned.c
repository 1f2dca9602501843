/* SPDX-License-Identifier: BSD-3-Clause */
// Rank 0 sends to rank 1, beside messages to a child that MPI_Comm_spawn has started, by the intercommunicator and by a
// communicator of all. The child does not run under Sluice: only what rank 1 gets is held.
#include <string.h>
#include <unistd.h>

#include "transcript.h"

enum { k_bytes = 900, k_messages = 200 };

static char data[k_bytes];

static void receive_all(int from, MPI_Comm comm) {
    uint64_t sum = 0;
    for (int i = 0; i < k_messages; ++i) {
        if (i % 50 == 0) usleep(2000);
        CALL(MPI_Recv(data, k_bytes, MPI_CHAR, from, 1, comm, MPI_STATUS_IGNORE));
        sum = sum * 31 + checksum(data, sizeof data);
    }
    say("sum %llx", (unsigned long long)sum);
}

static void send_all(MPI_Comm between, MPI_Comm all) {
    int last = 0;
    MPI_Comm_size(all, &last);
    for (int i = 0; i < k_messages; ++i) {
        MPI_Request request;
        fill(data, sizeof data, (unsigned)i);
        CALL(MPI_Send(data, k_bytes, MPI_CHAR, 1, 1, MPI_COMM_WORLD));
        CALL(MPI_Isend(data, k_bytes, MPI_CHAR, 0, 1, between, &request));
        CALL(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CALL(MPI_Send(data, k_bytes, MPI_CHAR, last - 1, 1, all));
    }
}

int main(int argc, char** argv) {
    MPI_Comm between = MPI_COMM_NULL;
    MPI_Comm all = MPI_COMM_NULL;
    open_transcript(argc > 1 ? "child-" : "");
    CALL(MPI_Init(&argc, &argv));
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    CALL(MPI_Comm_get_parent(&between));
    int const is_child = between != MPI_COMM_NULL;
    if (!is_child) {
        char* arguments[] = {(char*)"child", NULL};
        CALL(MPI_Comm_spawn(argv[0], arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &between, MPI_ERRCODES_IGNORE));
    }
    CALL(MPI_Intercomm_merge(between, is_child, &all));
    if (is_child) {
        receive_all(0, between);
        receive_all(0, all);
    } else if (me == 0) {
        send_all(between, all);
    } else if (me == 1) {
        receive_all(0, MPI_COMM_WORLD);
    }
    CALL(MPI_Comm_free(&all));
    CALL(MPI_Comm_disconnect(&between));
    return end();
}
