/* SPDX-License-Identifier: BSD-3-Clause */
// One wrong call on a nonblocking receive that is still held. Errors are fatal, for only then receives are held: the
// job ends in the same way. The transcript is what was said before the call.
#include <stdlib.h>
#include <string.h>

#include "pending.h"
#include "transcript.h"

enum { k_bytes = 1 << 20 };

static int indices[2];
static MPI_Status statuses[2];

static void call(char const* which, MPI_Request* requests) {
    int number = 0;
    if (strcmp(which, "waitsome_without_number") == 0) MPI_Waitsome(2, requests, NULL, indices, statuses);
    if (strcmp(which, "waitsome_without_indices") == 0) MPI_Waitsome(2, requests, &number, NULL, statuses);
    if (strcmp(which, "waitsome_of_fewer_than_none") == 0) MPI_Waitsome(-1, requests, &number, indices, statuses);
    if (strcmp(which, "waitany_without_index") == 0) MPI_Waitany(2, requests, NULL, statuses);
    if (strcmp(which, "waitall_of_fewer_than_none") == 0) MPI_Waitall(-1, requests, statuses);
    if (strcmp(which, "test_without_flag") == 0) MPI_Test(&requests[0], NULL, statuses);
    if (strcmp(which, "wait_without_status") == 0) MPI_Wait(&requests[0], NULL);
    if (strcmp(which, "waitall_without_statuses") == 0) MPI_Waitall(2, requests, NULL);
}

int main(int argc, char** argv) {
    begin(&argc, &argv);
    void* const buffer = whole_pages(k_bytes, 1);
    MPI_Barrier(MPI_COMM_WORLD);  // the end of the job cuts off no transcript
    if (receives()) {
        MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        MPI_Irecv(buffer, k_bytes, MPI_BYTE, partner(), 1, MPI_COMM_WORLD, &requests[0]);
        MPI_Send("y", 1, MPI_CHAR, partner(), 2, MPI_COMM_WORLD);
        call(argv[1], requests);
        say("the call has returned");
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    } else {
        char begins = 0;
        MPI_Recv(&begins, 1, MPI_CHAR, partner(), 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        hold_ms = 200;
        send_slowly(buffer, k_bytes, partner(), 1);
    }
    return end();
}
