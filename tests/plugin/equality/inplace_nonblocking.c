/* SPDX-License-Identifier: BSD-3-Clause */
// MPI_Ialltoallw in place, where the two sides construct their types differently. It is completed in every way that MPI
// has, several calls are under way at once on three communicators, types are freed at once, and the result is compared
// with the right one ("truth"). If the MPI library is wrong, the layer serves the call with a copy, and the memory of
// copies must be freed. Other blocking calls must not need the layer's help: rank 0 waits in MPI_Recv for what a peer
// sends after its own wait.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../memory_kib.h"
#include "transcript.h"

typedef struct {
    MPI_Comm comm;
    int rank;
    int size;
    int items;  // ints for each pair, approximately
    int* data;
    int* counts;
    int* places;
    MPI_Datatype* types;
    MPI_Request request;
} Exchange;

static int item(int a, int b, int k) {
    return a * 1000003 + b * 7919 + k * 31 + 1;
}

static int stride_to(Exchange const* x, int peer) {
    return x->rank < peer ? 2 : x->rank > peer ? 3 : 1;
}

// Some pairs have none, but not with Open MPI: 4.1.4 hangs in MPI_Ialltoallw in place if a pair has nothing to
// exchange.
static int items_of_pair(Exchange const* x, int a, int b) {
#ifdef OPEN_MPI
    return 1 + x->items + (a * b) % 3;
#else
    return (a + b) % 5 == 3 ? 0 : x->items + (a * b) % 3;
#endif
}

static int slot_of(Exchange const* x) {
    return 3 * (x->items + 3);
}

static MPI_Datatype pair_type(Exchange const* x, int peer, int* count) {
    MPI_Datatype type;
    int items = items_of_pair(x, x->rank, peer);
    if (x->rank < peer) {
        MPI_Type_vector(items, 1, 2, MPI_INT, &type);
        *count = items > 0;
    } else if (x->rank > peer) {
        MPI_Type_create_resized(MPI_INT, 0, 3 * (MPI_Aint)sizeof(int), &type);
        *count = items;
    } else {
        MPI_Type_dup(MPI_INT, &type);
        *count = items;
    }
    MPI_Type_commit(&type);
    return type;
}

static void start(Exchange* x, MPI_Comm comm, int items) {
    memset(x, 0, sizeof *x);
    x->comm = comm;
    x->items = items;
    MPI_Comm_rank(comm, &x->rank);
    MPI_Comm_size(comm, &x->size);
    size_t n = (size_t)x->size;
    x->counts = room(sizeof(int) * n);
    x->places = room(sizeof(int) * n);
    x->types = room(sizeof(MPI_Datatype) * n);
    int total = slot_of(x) * x->size;
    x->data = room(sizeof(int) * (size_t)total);
    for (int k = 0; k < total; ++k)
        x->data[k] = -9;
    for (int b = 0; b < x->size; ++b) {
        x->types[b] = pair_type(x, b, &x->counts[b]);
        x->places[b] = b * slot_of(x) * (int)sizeof(int);
        for (int k = 0; k < items_of_pair(x, x->rank, b); ++k)
            x->data[b * slot_of(x) + k * stride_to(x, b)] = item(x->rank, b, k);
    }
    MPI_Ialltoallw(MPI_IN_PLACE, NULL, NULL, NULL, x->data, x->counts, x->places, x->types, comm, &x->request);
    for (int b = 0; b < x->size; ++b)
        MPI_Type_free(&x->types[b]);
}

static int wrong_in(Exchange* x) {
    int wrong = 0;
    for (int a = 0; a < x->size; ++a) {
        for (int k = 0; k < slot_of(x); ++k) {
            int step = stride_to(x, a);
            int used = k % step == 0 && k / step < items_of_pair(x, a, x->rank);
            wrong += x->data[a * slot_of(x) + k] != (used ? item(a, x->rank, k / step) : -9);
        }
    }
    free(x->data);
    free(x->counts);
    free(x->places);
    free(x->types);
    return wrong;
}

enum { k_open = 3, k_ways = 9 };

static void complete(int way, MPI_Request* open) {
    int done = 0;
    int index = 0;
    int indices[k_open];
    switch (way) {
        case 0:
            for (int i = k_open; i-- > 0;)
                MPI_Wait(&open[i], MPI_STATUS_IGNORE);
            break;
        case 1:
            MPI_Waitall(k_open, open, MPI_STATUSES_IGNORE);
            break;
        case 2:
            for (int i = 0; i < k_open; ++i)
                MPI_Waitany(k_open, open, &index, MPI_STATUS_IGNORE);
            break;
        case 3:
            for (int n = 0; n < k_open; n += done)
                MPI_Waitsome(k_open, open, &done, indices, MPI_STATUSES_IGNORE);
            break;
        case 4:
            for (int i = 0; i < k_open; i += done) {
                MPI_Test(&open[i], &done, MPI_STATUS_IGNORE);
                usleep(10);
            }
            break;
        case 5:
            for (; done == 0; usleep(10))
                MPI_Testall(k_open, open, &done, MPI_STATUSES_IGNORE);
            break;
        case 6:
            for (int n = 0; n < k_open; n += done, usleep(10))
                MPI_Testany(k_open, open, &index, &done, MPI_STATUS_IGNORE);
            break;
        case 7:
            for (int n = 0; n < k_open; n += done, usleep(10))
                MPI_Testsome(k_open, open, &done, indices, MPI_STATUSES_IGNORE);
            break;
        default:
            for (int i = 0; i < k_open; ++i) {
                for (done = 0; done == 0; usleep(10))
                    MPI_Request_get_status(open[i], &done, MPI_STATUS_IGNORE);
                MPI_Wait(&open[i], MPI_STATUS_IGNORE);
            }
    }
}

// Three calls are under way at once on three communicators, and two more in turns on the first.
static int round_of(int way, int items, MPI_Comm const* comms) {
    Exchange x[k_open];
    MPI_Request open[k_open];
    for (int i = 0; i < k_open; ++i) {
        start(&x[i], comms[i], items + i);
        open[i] = x[i].request;
    }
    complete(way, open);
    int wrong = 0;
    for (int i = 0; i < k_open; ++i)
        wrong += wrong_in(&x[i]) + (open[i] != MPI_REQUEST_NULL);
    return wrong;
}

static void blocked_in_another_call(void) {
    Exchange x;
    start(&x, MPI_COMM_WORLD, 50000);
    int word = me;
    if (me == 0) {
        for (int i = 1; i < ranks; ++i)
            MPI_Recv(&word, 1, MPI_INT, i, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&x.request, MPI_STATUS_IGNORE);
    } else {
        MPI_Wait(&x.request, MPI_STATUS_IGNORE);
        MPI_Send(&word, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
    }
    say("while rank 0 is in MPI_Recv: truth %d wrong", wrong_in(&x));
}

int main(int argc, char** argv) {
    begin(&argc, &argv);
    MPI_Comm comms[k_open] = {MPI_COMM_WORLD, MPI_COMM_NULL, MPI_COMM_NULL};
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
    MPI_Comm_split(MPI_COMM_WORLD, me % 2, -me, &comms[2]);
    int const sizes[] = {0, 1, 5, 300, 20000};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
        for (int way = 0; way < k_ways; ++way)
            say("%d ints a pair, way %d: truth %d wrong", sizes[i], way, round_of(way, sizes[i], comms));
    }
    blocked_in_another_call();

    MPI_Comm same[k_open] = {MPI_COMM_WORLD, MPI_COMM_WORLD, MPI_COMM_WORLD};
    long before = 0;
    int wrong = 0;
    for (int i = 0; i < 60; ++i) {  // the layer makes three copies at once, with 40 KB for each pair
        if (i == 10) before = memory_kib();
        wrong += round_of(i % k_ways, 10000, same);
    }
    long const grown = memory_kib() - before;
    say("sixty rounds: truth %d wrong", wrong);
    if (grown > 4096) say("grown by %ld KiB: truth 1 wrong", grown);
    MPI_Comm_free(&comms[1]);
    MPI_Comm_free(&comms[2]);
    return end();
}
