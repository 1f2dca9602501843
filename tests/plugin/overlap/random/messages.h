/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
// One message of random.c: how it leaves, how it is received, and where it lands.
#include <mpi.h>
#include <stddef.h>

#include "draws.h"
#include "memory.h"

enum send_mode {
    k_send,
    k_ssend,
    k_bsend,
    k_rsend,
    k_isend,
    k_issend,
    k_ibsend,
    k_send_init,
    k_sendrecv,  // its receiving half is from MPI_PROC_NULL
    k_send_modes
};
enum receive_mode {
    k_recv,
    k_recv_any_source,
    k_recv_any_tag,
    k_recv_any,
    k_sendrecv_receives,  // its sending half goes to MPI_PROC_NULL
    k_sendrecv_to_self,   // its sending half is received before, by MPI_Irecv
    k_irecv,
    k_probe,
    k_iprobe,
    k_mprobe,
    k_mprobe_imrecv,
    k_improbe,
    k_recv_init,
    k_receive_modes
};

struct message {
    int tag;
    int type;   // of types[]
    int count;  // elements that are sent
    int room;   // elements that the receive has room for
    enum send_mode send;
    enum receive_mode receive;
    enum memory_kind kind;
    size_t offset;
    unsigned seed;
    int truncates;  // sent are more than there is room for; the communicator returns errors
};

enum { k_types = 5, k_first_with_gaps = 3 };
void make_types(void);
void free_types(void);
size_t extent_of(int type);

// `fenced`: no other rank sends to this rank meanwhile, so a receive may name neither source nor tag.
struct message draw_message(struct draws* draws, int tag, int small, int fenced);

// A request that is active, and what goes with it.
struct open {
    MPI_Request request;
    int is_persistent;
    int is_receive;
};

// Sends; the request is MPI_REQUEST_NULL if the call has done it all.
struct open send_message(struct message const* message, void* buffer, int to, MPI_Comm comm);
// Receives; says the status unless the receive is still open.
struct open receive_message(struct message const* message, void* buffer, int from, MPI_Comm comm);
void say_received(struct message const* message, MPI_Status const* status, int code);

// Completes them by one of all ways to wait and to test, and says the statuses in their order.
void complete(struct draws* draws, struct open* opens, int n);
