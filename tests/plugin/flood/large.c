/* SPDX-License-Identifier: BSD-3-Clause */
// A persistent send of more elements than an int holds, started often. Its memory is never touched: the receiver looks
// at the messages, and has room for 8 bytes of each.
#include <stdlib.h>
#include <sys/mman.h>

#include "../equality/transcript.h"

enum { k_messages = 4 };

int main(int argc, char** argv) {
    begin(&argc, &argv);
    MPI_Count const count = ((MPI_Count)1 << 32) + 3000;
    if (me == 0) {
        void* const memory =
            mmap(NULL, (size_t)count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED) MPI_Abort(MPI_COMM_WORLD, 3);
        MPI_Request request;
        MPI_Send_init_c(memory, count, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &request);
        for (int i = 0; i < k_messages; ++i) {
            MPI_Start(&request);
            called("wait", MPI_Wait(&request, MPI_STATUS_IGNORE));
        }
        MPI_Request_free(&request);
    } else if (me == 1) {
        for (int i = 0; i < k_messages; ++i) {
            MPI_Message message;
            MPI_Status status;
            MPI_Count elements = 0;
            char room_for_some[8];
            MPI_Mprobe(0, 1, MPI_COMM_WORLD, &message, &status);
            MPI_Get_elements_x(&status, MPI_BYTE, &elements);
            say("%lld bytes", (long long)elements);
            called("mrecv", MPI_Mrecv(room_for_some, 8, MPI_BYTE, &message, MPI_STATUS_IGNORE));
        }
    }
    return end();
}
