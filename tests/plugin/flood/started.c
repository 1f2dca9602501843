/* SPDX-License-Identifier: BSD-3-Clause */
// Lists of persistent requests that one call starts, more of them than the table of persistent sends has room for. Both
// MPIs start a list in its order, and so are the messages received.
#include <stdlib.h>

#include "transcript.h"

enum { k_each = 700, k_bytes = 100, k_rounds = 3, k_back = 1000, k_line = 20 };

// Of each five, one sends synchronously, and one receives.
static int comes(int i) {
    return i % 5 == 4;
}

static void start(void) {
    int const many = k_each * (ranks - 1);
    char* data = room((size_t)many * k_bytes);
    MPI_Request* list = room((size_t)many * sizeof *list);
    for (int i = 0; i < many; ++i) {
        int const other = 1 + i % (ranks - 1), number = i / (ranks - 1);
        char* place = data + (size_t)i * k_bytes;
        fill(place, k_bytes, (unsigned)i);
        if (comes(number))
            MPI_Recv_init(place, k_bytes, MPI_CHAR, other, k_back, MPI_COMM_WORLD, &list[i]);
        else if (number % 5 == 3)
            MPI_Ssend_init(place, k_bytes, MPI_CHAR, other, number, MPI_COMM_WORLD, &list[i]);
        else
            MPI_Send_init(place, k_bytes, MPI_CHAR, other, number, MPI_COMM_WORLD, &list[i]);
    }
    for (int round = 0; round < k_rounds; ++round) {
        CALL(MPI_Startall(many, list));
        CALL(MPI_Waitall(many, list, MPI_STATUSES_IGNORE));
        for (int i = 0; i < many; ++i)
            if (comes(i / (ranks - 1)))
                say("back %016llx", (unsigned long long)checksum(data + (size_t)i * k_bytes, k_bytes));
    }
    for (int i = 0; i < many; ++i)
        MPI_Request_free(&list[i]);
    free(list);
    free(data);
}

static void receive(void) {
    int tags[k_line];
    char data[k_bytes];
    for (int round = 0; round < k_rounds; ++round) {
        int got = 0;
        for (int i = 0; i < k_each; ++i) {
            if (comes(i)) continue;
            MPI_Status status;
            MPI_Recv(data, k_bytes, MPI_CHAR, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
            tags[got++] = status.MPI_TAG;
            if (got == k_line) say_ints("tags", tags, got), got = 0;
        }
        say_ints("tags", tags, got);
        for (int i = 0; i < k_each; ++i)
            if (comes(i)) MPI_Send(data, k_bytes, MPI_CHAR, 0, k_back, MPI_COMM_WORLD);
    }
}

int main(int argc, char** argv) {
    begin(&argc, &argv);
    if (me == 0)
        start();
    else
        receive();
    return end();
}
