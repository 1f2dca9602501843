/* SPDX-License-Identifier: BSD-3-Clause */
#include "messages.h"

#include <stdlib.h>
#include <string.h>

#include "transcript.h"

static MPI_Datatype types[k_types];

void make_types(void) {
    int const lengths[] = {3, 2};
    MPI_Aint const displacements[] = {0, 16};
    MPI_Datatype const parts[] = {MPI_INT, MPI_DOUBLE};
    MPI_Datatype structure;
    types[0] = MPI_BYTE;
    types[1] = MPI_DOUBLE;
    MPI_Type_contiguous(7, MPI_INT, &types[2]);
    MPI_Type_vector(3, 5, 8, MPI_SHORT, &types[3]);
    MPI_Type_create_struct(2, lengths, displacements, parts, &structure);
    MPI_Type_create_resized(structure, 0, 40, &types[4]);
    MPI_Type_free(&structure);
    for (int i = 2; i < k_types; ++i)
        MPI_Type_commit(&types[i]);
}

void free_types(void) {
    for (int i = 2; i < k_types; ++i)
        MPI_Type_free(&types[i]);
}

size_t extent_of(int type) {
    MPI_Aint lower = 0;
    MPI_Aint extent = 0;
    MPI_Type_get_extent(types[type], &lower, &extent);
    return (size_t)extent;
}

static int draw_count(struct draws* draws, int small, size_t extent) {
    static unsigned const most[] = {64, 5000, 20000, 20000, 90000, 300000};
    unsigned const bytes = one_of(draws, small ? 9000 : most[one_of(draws, 6)]) + (small ? 4096 : 0);
    return (int)(bytes / extent);
}

// So that most of them may be pending: whole pages of the program's own.
static void make_guardable(struct draws* draws, struct message* m) {
    static enum memory_kind const kinds[] = {k_mapped, k_huge, k_malloc, k_two_mappings};
    if (m->send == k_rsend) return;
    m->count *= (int)extent_of(m->type);
    m->type = 0;
    m->kind = kinds[one_of(draws, 4)];
    m->offset = 4096 * (size_t)one_of(draws, 3);
    m->room = (m->count + 4095) / 4096 * 4096;
    if (m->receive > k_irecv) m->receive = one_in(draws, 2) ? k_irecv : k_recv;
}

struct message draw_message(struct draws* draws, int tag, int small, int fenced) {
    static size_t const offsets[] = {0, 4096, 4096, 16, 8192 + 16, 1, 4095, 2048};
    struct message m = {0};
    m.tag = tag;
    m.type = one_in(draws, 3) ? (int)one_of(draws, k_types) : 0;
    m.count = draw_count(draws, small, extent_of(m.type));
    m.room = m.count + (int)(one_in(draws, 2) ? 0 : one_of(draws, 2000));
    m.send = (enum send_mode)one_of(draws, k_send_modes);
    m.receive = one_in(draws, 2) ? k_recv : (enum receive_mode)one_of(draws, k_receive_modes);
    if (m.receive == k_recv_any && !fenced) m.receive = k_recv_any_source;
    if (m.send == k_rsend) m.receive = one_in(draws, 2) ? k_irecv : k_recv_init;  // it must be there before
    m.kind =
        one_in(draws, 2) ? (one_in(draws, 2) ? k_malloc : k_mapped) : (enum memory_kind)one_of(draws, k_memory_kinds);
    m.offset = offsets[one_of(draws, 8)];
    m.seed = (unsigned)draw(draws);
    if (one_in(draws, 2)) make_guardable(draws, &m);
    return m;
}

struct open send_message(struct message const* m, void* buffer, int to, MPI_Comm comm) {
    struct open open = {MPI_REQUEST_NULL, 0, 0};
    MPI_Datatype const type = types[m->type];
    switch (m->send) {
        case k_ssend:
            MPI_Ssend(buffer, m->count, type, to, m->tag, comm);
            break;
        case k_bsend:
            MPI_Bsend(buffer, m->count, type, to, m->tag, comm);
            break;
        case k_rsend:
            MPI_Rsend(buffer, m->count, type, to, m->tag, comm);
            break;
        case k_isend:
            MPI_Isend(buffer, m->count, type, to, m->tag, comm, &open.request);
            break;
        case k_issend:
            MPI_Issend(buffer, m->count, type, to, m->tag, comm, &open.request);
            break;
        case k_ibsend:
            MPI_Ibsend(buffer, m->count, type, to, m->tag, comm, &open.request);
            break;
        case k_send_init:
            MPI_Send_init(buffer, m->count, type, to, m->tag, comm, &open.request);
            MPI_Start(&open.request);
            open.is_persistent = 1;
            break;
        case k_sendrecv:
            MPI_Sendrecv(buffer, m->count, type, to, m->tag, NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, comm,
                         MPI_STATUS_IGNORE);
            break;
        default:
            MPI_Send(buffer, m->count, type, to, m->tag, comm);
            break;
    }
    return open;
}

void say_received(struct message const* m, MPI_Status const* status, int code) {
    if (m->truncates) {
        int class = MPI_SUCCESS;
        MPI_Error_class(code, &class);
        say("tag %d: error class %d", m->tag, class);
        return;
    }
    say_status("received", status, types[m->type]);
}

static int exchange_with_self(struct message const* m, void* buffer, int from, MPI_Comm comm, MPI_Status* status) {
    MPI_Request request;
    int mine = -1;
    int rank = 0;
    int const out = m->tag;
    int is_inter = 0;
    MPI_Comm_test_inter(comm, &is_inter);
    if (is_inter) return MPI_Recv(buffer, m->room, types[m->type], from, m->tag, comm, status);
    MPI_Comm_rank(comm, &rank);
    MPI_Irecv(&mine, 1, MPI_INT, rank, 30000, comm, &request);
    int const code =
        MPI_Sendrecv(&out, 1, MPI_INT, rank, 30000, buffer, m->room, types[m->type], from, m->tag, comm, status);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    say("to itself: %d", mine);
    return code;
}

static int receive_probed(struct message const* m, void* buffer, int from, MPI_Comm comm, MPI_Status* status) {
    MPI_Message found = MPI_MESSAGE_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status probed = untouched_status();
    MPI_Datatype const type = types[m->type];
    int flag = 0;
    switch (m->receive) {
        case k_probe:
            MPI_Probe(from, m->tag, comm, &probed);
            return MPI_Recv(buffer, m->room, type, probed.MPI_SOURCE, probed.MPI_TAG, comm, status);
        case k_iprobe:
            while (!flag)
                MPI_Iprobe(from, m->tag, comm, &flag, &probed);
            return MPI_Recv(buffer, m->room, type, from, m->tag, comm, status);
        case k_mprobe:
            MPI_Mprobe(from, m->tag, comm, &found, &probed);
            return MPI_Mrecv(buffer, m->room, type, &found, status);
        case k_improbe:
            while (!flag)
                MPI_Improbe(from, m->tag, comm, &flag, &found, &probed);
            return MPI_Mrecv(buffer, m->room, type, &found, status);
        default:
            break;
    }
    MPI_Mprobe(from, m->tag, comm, &found, &probed);
    MPI_Imrecv(buffer, m->room, type, &found, &request);
    return MPI_Wait(&request, status);
}

struct open receive_message(struct message const* m, void* buffer, int from, MPI_Comm comm) {
    struct open open = {MPI_REQUEST_NULL, 0, 1};
    MPI_Status status = untouched_status();
    MPI_Datatype const type = types[m->type];
    int code = MPI_SUCCESS;
    switch (m->receive) {
        case k_recv:
            code = MPI_Recv(buffer, m->room, type, from, m->tag, comm, &status);
            break;
        case k_recv_any_source:
            code = MPI_Recv(buffer, m->room, type, MPI_ANY_SOURCE, m->tag, comm, &status);
            break;
        case k_recv_any_tag:
            code = MPI_Recv(buffer, m->room, type, from, MPI_ANY_TAG, comm, &status);
            break;
        case k_recv_any:
            code = MPI_Recv(buffer, m->room, type, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
            break;
        case k_sendrecv_receives:
            code =
                MPI_Sendrecv(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, buffer, m->room, type, from, m->tag, comm, &status);
            break;
        case k_sendrecv_to_self:
            code = exchange_with_self(m, buffer, from, comm, &status);
            break;
        case k_irecv:
            MPI_Irecv(buffer, m->room, type, from, m->tag, comm, &open.request);
            return open;
        case k_recv_init:
            MPI_Recv_init(buffer, m->room, type, from, m->tag, comm, &open.request);
            MPI_Start(&open.request);
            open.is_persistent = 1;
            return open;
        default:
            code = receive_probed(m, buffer, from, comm, &status);
            break;
    }
    say_received(m, &status, code);
    return open;
}

static void complete_one_by_one(unsigned way, MPI_Request* requests, MPI_Status* statuses, int n) {
    for (int i = 0, flag = 0; i < n; ++i, flag = 0) {
        if (way == 0) MPI_Wait(&requests[i], &statuses[i]);
        while (way == 1 && !flag)
            MPI_Test(&requests[i], &flag, &statuses[i]);
        while (way == 2 && !flag) {
            MPI_Request_get_status(requests[i], &flag, &statuses[i]);
            if (flag) MPI_Wait(&requests[i], &statuses[i]);
        }
    }
}

static void complete_as_they_come(unsigned way, MPI_Request* requests, MPI_Status* statuses, int n) {
    int* indices = room(sizeof(int) * (size_t)(n + 1));
    MPI_Status* some = room(sizeof(MPI_Status) * (size_t)(n + 1));
    for (int left = n, number = 0; left > 0 && number != MPI_UNDEFINED;) {
        int flag = 1;
        number = 1;
        some[0] = untouched_status();
        if (way == 3) MPI_Waitany(n, requests, indices, some);
        if (way == 4) MPI_Testany(n, requests, indices, &flag, some);
        if (way == 5) MPI_Waitsome(n, requests, &number, indices, some);
        if (way == 6) MPI_Testsome(n, requests, &number, indices, some);
        if (way <= 4 && (!flag || indices[0] == MPI_UNDEFINED)) number = flag ? MPI_UNDEFINED : 0;
        for (int i = 0; number != MPI_UNDEFINED && i < number; ++i, --left)
            statuses[indices[i]] = some[i];
    }
    free(indices);
    free(some);
}

void complete(struct draws* draws, struct open* opens, int n) {
    unsigned const way = one_of(draws, 9);
    MPI_Request* requests = room(sizeof(MPI_Request) * (size_t)n);
    MPI_Status* statuses = room(sizeof(MPI_Status) * (size_t)n);
    for (int i = 0; i < n; ++i) {
        requests[i] = opens[i].request;
        statuses[i] = untouched_status();
    }
    int flag = 0;
    if (way < 3) complete_one_by_one(way, requests, statuses, n);
    if (way >= 3 && way < 7) complete_as_they_come(way, requests, statuses, n);
    if (way == 7) MPI_Waitall(n, requests, statuses);
    while (way == 8 && !flag)
        MPI_Testall(n, requests, &flag, statuses);
    for (int i = 0; i < n; ++i) {
        if (opens[i].is_receive) {
            statuses[i].MPI_ERROR = k_untouched;  // calls on many may set it or not
            say_status("completed", &statuses[i], MPI_BYTE);
        }
        if (opens[i].is_persistent) MPI_Request_free(&requests[i]);
    }
    free(requests);
    free(statuses);
}
