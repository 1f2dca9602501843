/* SPDX-License-Identifier: BSD-3-Clause */
// A receive shares a page with memory that an operation still reads or writes, inside MPI, while the receive would be
// pending: a page that waits there would wait for ever, for its data need the same MPI to go on.
//
//     page       |    page    |    page    |
//     row 0, received  | row 1, in use     |
//
// Every kind of operation that can be active in row 1 has its case. What it needs of the other rank comes late, so it
// is active while the receive lands.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "pending.h"
#include "transcript.h"

enum { k_long_row = (8 << 20) + 1000, k_row = (1 << 18) + 1000, k_rows = 3 };  // rows end inside pages
enum { k_area = k_long_row + 2 * k_row + 4096 };
static unsigned char* rows[k_rows];
static unsigned char* area;
static MPI_Comm pair;  // of two ranks

static MPI_Request request;
static void wait_for_it(void) {
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static int other(void) {
    return 1 - me % 2;
}

// `mine` begins an operation on row 1 of the receiving rank, `done` ends it. `theirs` is the other rank's part, after
// its own send to row 0.
static void isend(void) {
    MPI_Isend(rows[1], k_row, MPI_BYTE, other(), 2, pair, &request);
}
static void issend(void) {
    MPI_Issend(rows[1], k_row, MPI_BYTE, other(), 2, pair, &request);
}
static void take(void) {
    MPI_Recv(rows[2], k_row, MPI_BYTE, other(), 2, pair, MPI_STATUS_IGNORE);
    say_bytes("the neighbour's row", rows[2], k_row);
}
static void irecv(void) {
    MPI_Irecv(rows[1], k_row, MPI_BYTE, other(), 3, pair, &request);
}
static void give(void) {
    MPI_Send(rows[2], k_row, MPI_BYTE, other(), 3, pair);
}
static void send_init(void) {
    MPI_Send_init(rows[1], k_row, MPI_BYTE, other(), 2, pair, &request);
    MPI_Start(&request);
}
static void recv_init(void) {
    MPI_Recv_init(rows[1], k_row, MPI_BYTE, other(), 3, pair, &request);
    MPI_Startall(1, &request);
}
static void wait_and_free(void) {
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
}
static void isend_and_forget(void) {
    MPI_Isend(rows[1], k_row, MPI_BYTE, other(), 2, pair, &request);
    MPI_Request_free(&request);
}
static void learn_that_it_is_sent(void) {
    MPI_Recv(NULL, 0, MPI_BYTE, other(), 4, pair, MPI_STATUS_IGNORE);
}
static void take_and_tell(void) {
    take();
    MPI_Send(NULL, 0, MPI_BYTE, other(), 4, pair);
}
static void ibcast_mine(void) {
    MPI_Ibcast(rows[1], k_row, MPI_BYTE, me % 2, pair, &request);
}
static void ibcast_theirs(void) {
    MPI_Ibcast(rows[2], k_row, MPI_BYTE, other(), pair, &request);
    wait_for_it();
    say_bytes("broadcast", rows[2], k_row);
}
static void ialltoall_mine(void) {
    MPI_Ialltoall(MPI_IN_PLACE, 0, MPI_BYTE, rows[1], k_row / 2, MPI_BYTE, pair, &request);
}
static void ialltoall_theirs(void) {
    MPI_Ialltoall(MPI_IN_PLACE, 0, MPI_BYTE, rows[2], k_row / 2, MPI_BYTE, pair, &request);
    wait_for_it();
    say_bytes("exchanged", rows[2], k_row);
}
static void iallreduce_mine(void) {
    MPI_Iallreduce(MPI_IN_PLACE, rows[1] + 4 - k_row % 4, k_row / 8, MPI_INT, MPI_BXOR, pair, &request);
}
static void iallreduce_theirs(void) {
    MPI_Iallreduce(MPI_IN_PLACE, rows[2] + 4 - k_row % 4, k_row / 8, MPI_INT, MPI_BXOR, pair, &request);
    wait_for_it();
    say_bytes("reduced", rows[2], k_row);
}
static MPI_Comm copy;
static void idup_mine(void) {
    MPI_Comm_idup(pair, (MPI_Comm*)(void*)(rows[1] + 8 - (size_t)rows[1] % 8), &request);
}
static void idup_theirs(void) {
    MPI_Comm_idup(pair, &copy, &request);
    wait_for_it();
    MPI_Comm_free(&copy);
}
static void idup_done(void) {
    wait_for_it();
    memcpy(&copy, rows[1] + 8 - (size_t)rows[1] % 8, sizeof copy);
    memset(rows[1], 1, 16);
    int size = 0;
    MPI_Comm_size(copy, &size);
    say("the copy has %d ranks", size);
    MPI_Comm_free(&copy);
}
// A buffer of MPI_Buffer_attach, out of which MPI sends; in its large form where the MPI has one.
static void bsend(void) {
    unsigned char* begin = rows[1] + 8 - (size_t)rows[1] % 8;
#if MPI_VERSION >= 4
    MPI_Buffer_attach_c(begin, k_row - 16);
#else
    MPI_Buffer_attach(begin, k_row - 16);
#endif
    MPI_Bsend(rows[2], k_row / 2, MPI_BYTE, other(), 2, pair);
}
static void detach(void) {
    void* at = NULL;
    int bytes = 0;
    MPI_Buffer_detach(&at, &bytes);
    memset(rows[1], 3, k_row);  // what MPI wrote there is its own
    say("detached %d", bytes);
}
static void take_half(void) {
    MPI_Recv(rows[2], k_row / 2, MPI_BYTE, other(), 2, pair, MPI_STATUS_IGNORE);
    say_bytes("buffered", rows[2], k_row / 2);
}
// The address of the data is in the datatype.
static void isend_absolute(void) {
    MPI_Aint at = 0;
    int length = k_row;
    MPI_Datatype absolute;
    MPI_Get_address(rows[1], &at);
    MPI_Type_create_hindexed(1, &length, &at, MPI_BYTE, &absolute);
    MPI_Type_commit(&absolute);
    MPI_Isend(MPI_BOTTOM, 1, absolute, other(), 2, pair, &request);
    MPI_Type_free(&absolute);
}

static struct {
    char const* name;
    void (*mine)(void);
    void (*done)(void);
    void (*theirs)(void);
} const cases[] = {
    {"Isend", isend, wait_for_it, take},
    {"Issend", issend, wait_for_it, take},
    {"Isend of an absolute address", isend_absolute, wait_for_it, take},
    {"Irecv", irecv, wait_for_it, give},
    {"Send_init", send_init, wait_and_free, take},
    {"Recv_init", recv_init, wait_and_free, give},
    {"Ibcast", ibcast_mine, wait_for_it, ibcast_theirs},
    {"Ialltoall in place", ialltoall_mine, wait_for_it, ialltoall_theirs},
    {"Iallreduce", iallreduce_mine, wait_for_it, iallreduce_theirs},
    {"Comm_idup", idup_mine, idup_done, idup_theirs},
    {"Bsend", bsend, detach, take_half},
    {"Isend that is forgotten", isend_and_forget, learn_that_it_is_sent, take_and_tell},
};

static void place_rows(int in_block) {
    area = in_block ? room(k_area) : whole_pages(k_area, 0);
    rows[0] = area;
    rows[1] = rows[0] + k_long_row;
    rows[2] = rows[1] + k_row;
    fill(area, k_area, (unsigned)me);
}

static void remove_rows(int in_block) {
    if (in_block)
        free(area);
    else
        munmap(area, k_area);
}

static void run(size_t number, int in_block) {
    say("-- %s, %s", cases[number].name, in_block ? "block" : "mapping");
    place_rows(in_block);
    MPI_Barrier(pair);
    if (receives()) {
        cases[number].mine();
        MPI_Recv(rows[0], k_long_row, MPI_BYTE, other(), 1, pair, MPI_STATUS_IGNORE);
        cases[number].done();
        say_bytes("all", area, k_area);
    } else {
        MPI_Request sending;
        MPI_Isend(rows[0], k_long_row, MPI_BYTE, other(), 1, pair, &sending);
        cases[number].theirs();
        MPI_Wait(&sending, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(pair);
    remove_rows(in_block);
}

// Without an operation in row 1 the same receive may be pending, wherever its pages lie.
static void run_alone(int in_block) {
    say("-- alone, %s", in_block ? "block" : "mapping");
    place_rows(in_block);
    MPI_Barrier(pair);
    if (receives()) {
        MPI_Recv(rows[0], k_long_row, MPI_BYTE, other(), 1, pair, MPI_STATUS_IGNORE);
        count_touch(rows[0]);
        rows[1][0] = 77;
        say_bytes("all", area, k_area);
    } else {
        send_slowly_on(pair, rows[0], k_long_row, other(), 1);
    }
    remove_rows(in_block);
}

int main(int argc, char** argv) {
    begin(&argc, &argv);
    expect_early_returns();
    hold_ms = 10;
    MPI_Comm_split(MPI_COMM_WORLD, partner() < 0 ? MPI_UNDEFINED : me / 2, me, &pair);
    int const paired = pair != MPI_COMM_NULL;
    for (int in_block = 0; in_block < 2; ++in_block)
        if (paired) run_alone(in_block);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i)
        for (int in_block = 0; in_block < 2; ++in_block)
            if (paired) run(i, in_block);
    if (paired) MPI_Comm_free(&pair);
    return end();
}
