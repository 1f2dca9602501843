/* SPDX-License-Identifier: BSD-3-Clause */
// random SEED [ROUNDS]: a random program of sends and receives. All ranks draw the same numbers, so each knows what
// comes.
//
//     round      the ranks form random pairs; the one that is left over talks to itself
//     episode    one rank of a pair sends some messages, the other receives them: of all kinds (messages.h), into all
//     kinds
//                of memory (memory.h), on several communicators. Some data are looked at at once, most later: so
//                receives are pending while other calls run.
//
// An odd seed leaves out what makes every later receive wait: buffered sends, and requests that are freed.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "messages.h"
#include "pending.h"
#include "transcript.h"

enum { k_most_kept = 100, k_most_messages = 80, k_attached = 48 << 20 };

static int calm;       // the seed is odd
static MPI_Comm copy;  // of MPI_COMM_WORLD
static MPI_Comm backwards;
static MPI_Comm returning;  // errors are returned
static MPI_Comm between;    // even ranks and odd ranks; MPI_COMM_NULL with one rank
static struct memory kept[k_most_kept];
static int n_kept = 0;

static void look_at_kept(int index) {
    struct memory* m = &kept[index];
    say("%s %zu at %zu: %016llx", name_of(m->kind), m->room, (size_t)(m->buffer - m->region),
        (unsigned long long)checksum(m->region, m->all));
    free_memory(m);
    kept[index] = kept[--n_kept];
}

static void keep(struct memory const* memory) {
    if (n_kept == k_most_kept) look_at_kept(0);
    kept[n_kept++] = *memory;
    count_touch(memory->buffer + memory->room / 2);
}

static void look_at_some(struct draws* draws) {
    for (unsigned left = one_of(draws, 4) == 0 ? (unsigned)n_kept : one_of(draws, 3); left > 0 && n_kept > 0; --left)
        look_at_kept((int)one_of(draws, (unsigned)n_kept));
}

// Where two ranks talk, and which rank `world` is there.
struct place {
    MPI_Comm comm;
    int to;
    int from;
};

static int rank_backwards(int world) {
    return ranks - 1 - world;
}

static struct place draw_place(struct draws* draws, int sender, int receiver) {
    struct place place = {MPI_COMM_WORLD, receiver, sender};
    switch (one_of(draws, 5)) {
        case 0:
            place.comm = copy;
            break;
        case 1:
            place.comm = backwards;
            place.to = rank_backwards(receiver);
            place.from = rank_backwards(sender);
            break;
        case 2:
            if (between == MPI_COMM_NULL || sender % 2 == receiver % 2) break;
            place.comm = between;
            place.to = receiver / 2;
            place.from = sender / 2;
            break;
        default:
            break;
    }
    return place;
}

static void pause_a_moment(void) {
    struct timespec const moment = {0, 2000000};
    nanosleep(&moment, NULL);
}

static size_t draw_behind(struct draws* draws) {
    static size_t const behinds[] = {0, 1, 64, 4096, 10000};
    return behinds[one_of(draws, 5)];
}

static struct message draw_one(struct draws* draws, int tag, int many, int fenced, int to_itself) {
    struct message m = draw_message(draws, tag, many, fenced);
    if (calm && (m.send == k_bsend || m.send == k_ibsend)) m.send = k_isend;
    if (calm && m.send == k_send_init) m.send = k_issend;
    if (calm && m.receive == k_recv_init) m.receive = k_irecv;
#ifdef MPICH  // 4.0.2 takes buffered messages of types with gaps for longer than they are
    if (m.type >= k_first_with_gaps && (m.send == k_bsend || m.send == k_ibsend)) m.send = k_isend;
#endif
    if (many || to_itself) m.send = k_isend;
    if (many && m.receive >= k_irecv) m.receive = k_recv;
    return m;
}

static void send_all(struct draws* draws, struct message const* messages, int n, struct place place, int slow) {
    struct open opens[k_most_messages];
    void* buffers[k_most_messages];
    for (int i = 0; i < n; ++i) {
        size_t const bytes = extent_of(messages[i].type) * (size_t)messages[i].count;
        buffers[i] = room(bytes);
        fill(buffers[i], bytes, messages[i].seed + 1);
        if (messages[i].send == k_rsend) MPI_Recv(NULL, 0, MPI_BYTE, place.to, 31000, place.comm, MPI_STATUS_IGNORE);
        opens[i] = send_message(&messages[i], buffers[i], place.to, place.comm);
        if (opens[i].request == MPI_REQUEST_NULL) memset(buffers[i], 0, bytes);
    }
    if (slow) pause_a_moment();
    complete(draws, opens, n);
    for (int i = 0; i < n; ++i)
        free(buffers[i]);
}

// Sends have begun before if it is a rank that talks to itself.
static void receive_all(struct draws* draws, struct message const* messages, int n, struct place place) {
    struct open opens[k_most_messages];
    struct memory landed[k_most_messages];
    int n_open = 0;
    for (int i = 0; i < n; ++i) {
        struct message const* m = &messages[i];
        struct memory memory =
            get_memory(m->kind, m->offset, extent_of(m->type) * (size_t)m->room, draw_behind(draws), m->seed);
        struct open const open = receive_message(m, memory.buffer, place.from, place.comm);
        if (m->send == k_rsend) MPI_Send(NULL, 0, MPI_BYTE, place.from, 31000, place.comm);
        if (open.request != MPI_REQUEST_NULL) {
            landed[n_open] = memory;
            opens[n_open++] = open;
        } else {
            keep(&memory);
            if (one_in(draws, 4)) look_at_some(draws);
        }
    }
    complete(draws, opens, n_open);
    for (int i = 0; i < n_open; ++i)
        keep(&landed[i]);
    look_at_some(draws);
}

// More is sent than there is room for.
static void truncate_one(struct draws* draws, int sender, int receiver) {
    struct message m = draw_message(draws, 7, 0, 0);
    m.type = 0;
    m.count = 20000 + (int)one_of(draws, 100000);
    m.room = m.count - 1 - (int)one_of(draws, 5000);
    m.truncates = 1;
    m.receive = k_recv;
    if (me == sender) {
        void* out = room((size_t)m.count);
        fill(out, (size_t)m.count, m.seed);
        MPI_Send(out, m.count, MPI_BYTE, receiver, m.tag, returning);
        free(out);
    }
    if (me == receiver) {
        struct memory in = get_memory(k_malloc, 4096, (size_t)m.room, 5000, m.seed);
        receive_message(&m, in.buffer, sender, returning);
        say_bytes("before", in.region, 4096);
        say_bytes("behind", in.buffer + m.room, 5000);
        free_memory(&in);
    }
}

// `tags` is the first of the episode: the next episode of a rank that is ahead has others, so any source is this one.
static void episode(struct draws draws, int sender, int receiver, int fenced, int tags) {
    if (me != sender && me != receiver) return;
    if (sender != receiver && one_in(&draws, 12) && !are_errors_always_fatal()) {
        truncate_one(&draws, sender, receiver);
        return;
    }
    int const to_itself = sender == receiver;
    int const many = one_in(&draws, 8);
    int const n = many ? k_most_messages : 1 + (int)one_of(&draws, 6);
    struct place const place = draw_place(&draws, sender, receiver);
    int const slow = one_in(&draws, 2);
    struct message messages[k_most_messages];
    for (int i = 0; i < n; ++i)
        messages[i] = draw_one(&draws, tags + i, many, fenced, to_itself);
    if (to_itself) {
        void* buffers[k_most_messages];
        struct open opens[k_most_messages];
        for (int i = 0; i < n; ++i) {
            size_t const bytes = extent_of(messages[i].type) * (size_t)messages[i].count;
            buffers[i] = room(bytes);
            fill(buffers[i], bytes, messages[i].seed + 1);
            opens[i] = send_message(&messages[i], buffers[i], place.to, place.comm);
        }
        receive_all(&draws, messages, n, place);
        complete(&draws, opens, n);
        for (int i = 0; i < n; ++i)
            free(buffers[i]);
    } else if (me == sender) {
        send_all(&draws, messages, n, place, slow);
    } else {
        receive_all(&draws, messages, n, place);
    }
}

static void collective(struct draws* draws) {
    struct memory all = get_memory(k_mapped, 0, 40000, 0, (unsigned)draw(draws));
    if (one_in(draws, 2)) MPI_Bcast(all.buffer, 40000, MPI_BYTE, (int)one_of(draws, (unsigned)ranks), copy);
    if (one_in(draws, 2)) MPI_Allreduce(MPI_IN_PLACE, all.buffer, 1000, MPI_INT, MPI_BXOR, MPI_COMM_WORLD);
    keep(&all);
}

static void do_round(struct draws* draws, int* order, int round) {
    int const tags = 100 + round % 100 * 2 * k_most_messages;
    int const fenced = one_in(draws, 3);
    if (fenced) MPI_Barrier(MPI_COMM_WORLD);
    for (int i = ranks - 1; i > 0; --i) {
        int const j = (int)one_of(draws, (unsigned)i + 1);
        int const rank = order[i];
        order[i] = order[j];
        order[j] = rank;
    }
    for (int i = 0; i < ranks; i += 2) {
        int const a = order[i];
        int const b = i + 1 < ranks ? order[i + 1] : a;
        struct draws there = {draw(draws)};
        struct draws back = {draw(draws)};
        episode(there, a, b, fenced, tags);
        if (a != b) episode(back, b, a, fenced, tags + k_most_messages);
    }
    if (fenced) MPI_Barrier(MPI_COMM_WORLD);
    if (one_in(draws, 4)) collective(draws);
}

static void make_communicators(void) {
    MPI_Comm half;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_dup(MPI_COMM_WORLD, &returning);
    if (!are_errors_always_fatal()) MPI_Comm_set_errhandler(returning, MPI_ERRORS_RETURN);
    MPI_Comm_split(MPI_COMM_WORLD, 0, ranks - me, &backwards);
    between = MPI_COMM_NULL;
    if (ranks == 1) return;
    MPI_Comm_split(MPI_COMM_WORLD, me % 2, me, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - me % 2, 17, &between);
    MPI_Comm_free(&half);
}

int main(int argc, char** argv) {
    begin(&argc, &argv);
    expect_early_returns();
    struct draws draws = {argc > 1 ? (uint64_t)strtoull(argv[1], NULL, 10) : 1};
    int const rounds = argc > 2 ? atoi(argv[2]) : 40;
    calm = draws.state % 2 == 1;
    make_types();
    make_communicators();
    void* attached = NULL;
    int bytes = k_attached;
    if (!calm) {
        attached = room(k_attached);
        MPI_Buffer_attach(attached, bytes);
    }
    int* order = room(sizeof(int) * (size_t)ranks);
    for (int i = 0; i < ranks; ++i)
        order[i] = i;
    for (int i = 0; i < rounds; ++i) {
        say("-- round %d", i);
        do_round(&draws, order, i);
    }
    while (n_kept > 0)
        look_at_kept(0);
    if (!calm) MPI_Buffer_detach(&attached, &bytes);
    free(attached);
    free(order);
    say_kinds();
    free_types();
    MPI_Comm_free(&copy);
    MPI_Comm_free(&returning);
    MPI_Comm_free(&backwards);
    if (between != MPI_COMM_NULL) MPI_Comm_free(&between);
    return end();
}
