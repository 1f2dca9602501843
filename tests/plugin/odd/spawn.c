/* SPDX-License-Identifier: BSD-3-Clause */
// MPI_Comm_spawn of two children, which communicate with their parents and with each other.
#include <string.h>

#include "transcript.h"

static void talk(MPI_Comm between) {
    MPI_Comm all;
    int sum = 0;
    int remote = -1;
    CALL(MPI_Comm_remote_size(between, &remote));
    CALL(MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, between));
    say("remote %d sum %d", remote, sum);
    MPI_Comm parent = MPI_COMM_NULL;
    MPI_Comm_get_parent(&parent);
    CALL(MPI_Intercomm_merge(between, parent != MPI_COMM_NULL, &all));
    int size = 0;
    int data[64];
    MPI_Comm_size(all, &size);
    for (int i = 0; i < size; ++i)
        data[i] = me * 100 + i;
    CALL(MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, 1, MPI_INT, all));
    say_ints("among all", data, size);
    CALL(MPI_Comm_free(&all));
    CALL(MPI_Comm_disconnect(&between));
}

int main(int argc, char** argv) {
    char const* child = "child";
    open_transcript(argc > 1 && strcmp(argv[1], child) == 0 ? "child-" : "");
    CALL(MPI_Init(&argc, &argv));
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm between = MPI_COMM_NULL;
    CALL(MPI_Comm_get_parent(&between));
    if (between == MPI_COMM_NULL) {
        int codes[2] = {-1, -1};
        char* arguments[] = {(char*)"child", NULL};
        CALL(MPI_Comm_spawn(argv[0], arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &between, codes));
        say_ints("codes", codes, 2);
    }
    talk(between);
    return end();
}
