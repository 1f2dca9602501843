/* SPDX-License-Identifier: BSD-3-Clause */
/* A program in C that publishes, fetches, sends and receives by callbacks, which call the store again; it also makes
 * every kind of wrong use that only C allows. The exit code is 1 if anything is wrong. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sluice/sluice.h"

enum { EPOCHS = 6, WORDS = 700 };

static int rank, size, faults;

static void expect(int right, char const* what, int line) {
    if (right) return;
    ++faults;
    fprintf(stderr, "rank %d, line %d: %s (%s)\n", rank, line, what, sluice_last_error());
}
#define EXPECT(condition) expect((condition), #condition, __LINE__)
#define OK(call) EXPECT((call) == SLUICE_SUCCESS)
#define REFUSED(call, part) EXPECT((call) == SLUICE_INVALID_ARGUMENT && strstr(sluice_last_error(), (part)) != NULL)

static int next_rank(void) {
    return (rank + 1) % size;
}
static int rank_before(void) {
    return (rank + size - 1) % size;
}
static sluice_key key_of(int owner, uint64_t id, uint64_t epoch) {
    sluice_key key;
    key.owner = owner;
    key.id = id;
    key.epoch = epoch;
    return key;
}
static sluice_want want_of(int owner, uint64_t id, uint64_t epoch, uint64_t bytes) {
    sluice_want want;
    want.key = key_of(owner, id, epoch);
    want.bytes = bytes;
    return want;
}
static uint64_t word_of(int owner, uint64_t epoch, uint64_t i) {
    return (uint64_t)owner * 1000003 + epoch * 5003 + i;
}

/* Each iteration is begun by the callback of the one before. */
typedef struct Ring {
    sluice_store* store;
    uint64_t epoch;
    uint64_t done; /* iterations */
    uint64_t read; /* publications that all readers have read */
    uint64_t right;
    int by_sending;
} Ring;

typedef struct Packed {
    uint64_t epoch;
} Packed;
static Packed packed[EPOCHS];

static int pack(void* user, void* out, uint64_t bytes) {
    uint64_t const epoch = ((Packed*)user)->epoch;
    uint64_t i;
    if (bytes != WORDS * sizeof(uint64_t)) return 1;
    for (i = 0; i < WORDS; ++i) {
        uint64_t const word = word_of(rank, epoch, i);
        memcpy((char*)out + i * sizeof word, &word, sizeof word);
    }
    return 0;
}

static void count_read(void* user) {
    ++((Ring*)user)->read;
}

static void next_iteration(Ring* ring);

static void got(void* user, int code, sluice_fetched* fetched) {
    Ring* const ring = user;
    uint64_t const* words = sluice_fetched_data(fetched, 0);
    uint64_t i;
    EXPECT(code == SLUICE_SUCCESS);
    EXPECT(sluice_fetched_count(fetched) == 1);
    EXPECT(sluice_fetched_bytes(fetched, 0) == WORDS * sizeof(uint64_t));
    EXPECT(sluice_fetched_data(fetched, 1) == NULL && sluice_fetched_bytes(fetched, 1) == 0);
    for (i = 0; words != NULL && i < WORDS; ++i)
        ring->right += words[i] == word_of(rank_before(), ring->epoch, i);
    OK(sluice_fetched_free(&fetched));
    EXPECT(fetched == NULL);
    /* Calls that would wait are refused here. */
    REFUSED(sluice_store_wait(ring->store), "from inside a callback");
    REFUSED(sluice_store_wait_for(ring->store, &ring->done, 1), "from inside a callback");
    REFUSED(sluice_store_finish(ring->store), "from inside a callback");
    {
        sluice_store* same = ring->store;
        REFUSED(sluice_store_free(&same), "from inside a callback");
        EXPECT(same == ring->store);
    }
    OK(sluice_store_progress(ring->store, NULL)); /* has no effect */
    ++ring->done;
    if (++ring->epoch < EPOCHS) next_iteration(ring);
}

static void next_iteration(Ring* ring) {
    sluice_key const own = key_of(rank, 1, ring->epoch);
    sluice_want const want =
        want_of(rank_before(), 1, ring->epoch, ring->epoch % 2 ? SLUICE_ANY_BYTES : WORDS * sizeof(uint64_t));
    packed[ring->epoch].epoch = ring->epoch;
    if (ring->by_sending) {
        OK(sluice_store_send(ring->store, next_rank(), own, WORDS * sizeof(uint64_t), pack, &packed[ring->epoch]));
        OK(sluice_store_receive_all(ring->store, &want, 1, got, ring));
    } else {
        OK(sluice_store_publish(ring->store, own, WORDS * sizeof(uint64_t), pack, &packed[ring->epoch], 1));
        OK(sluice_store_when_read(ring->store, own, count_read, ring));
        OK(sluice_store_fetch_all(ring->store, &want, 1, got, ring));
    }
}

static void iterate(sluice_context* context, int by_sending) {
    Ring ring;
    sluice_store_report report;
    memset(&ring, 0, sizeof ring);
    ring.by_sending = by_sending;
    OK(sluice_store_create(context, &ring.store));
    next_iteration(&ring);
    OK(sluice_store_wait(ring.store));
    EXPECT(ring.done == EPOCHS);
    EXPECT(ring.right == EPOCHS * WORDS);
    if (!by_sending) OK(sluice_store_wait_for(ring.store, &ring.read, EPOCHS));
    OK(sluice_store_finish(ring.store));
    OK(sluice_store_get_report(ring.store, &report));
    EXPECT(report.sets == EPOCHS && report.held == 0 && report.peak > 0);
    EXPECT(report.fetched + report.fetched_here == (by_sending ? 0 : EPOCHS));
    EXPECT(report.sent == (by_sending ? EPOCHS : 0) && report.received == report.sent);
    EXPECT(report.fetched_bytes + report.received_bytes == EPOCHS * WORDS * sizeof(uint64_t));
    OK(sluice_store_free(&ring.store));
    EXPECT(ring.store == NULL);
    OK(sluice_store_free(&ring.store)); /* there is nothing to free */
}

/* --- errors --- */

typedef struct Told {
    int calls;
    int code;
    char text[400];
    sluice_fetched* kept;
} Told;

static void tell(void* user, int code, sluice_fetched* fetched) {
    Told* const told = user;
    ++told->calls;
    told->code = code;
    told->kept = fetched;
    told->text[0] = '\0';
    if (code != SLUICE_SUCCESS) strncat(told->text, sluice_last_error(), sizeof told->text - 1);
}

static int pack_nothing(void* user, void* out, uint64_t bytes) {
    (void)user;
    (void)out;
    (void)bytes;
    return 7;
}

static void misuse(sluice_context* context) {
    static double const face[3] = {1, 2, 3};
    sluice_store* store = NULL;
    sluice_fetched* kept;
    Told wrong_size, not_packed, unknown, right, unsent;
    sluice_want wants[2];
    char sides[100];
    int moved = 0;

    REFUSED(sluice_store_create(NULL, &store), "context is NULL");
    REFUSED(sluice_store_create(context, NULL), "store is NULL"); /* on all ranks */
    REFUSED(sluice_store_publish_bytes(NULL, key_of(rank, 1, 0), face, sizeof face, 1), "store is NULL");
    OK(sluice_store_create(context, &store));
    REFUSED(sluice_store_publish_bytes(store, key_of(rank, 1, 0), NULL, 8, 1), "data is NULL, bytes is 8");
    REFUSED(sluice_store_publish_bytes(store, key_of(rank + 1, 1, 0), face, sizeof face, 1),
            "the key belongs to another rank");
    REFUSED(sluice_store_publish(store, key_of(rank, 1, 0), 8, NULL, NULL, 1), "the pack function is NULL");
    REFUSED(sluice_store_fetch_all(store, NULL, 3, tell, NULL), "wants is NULL, count is 3");
    REFUSED(sluice_store_fetch_all(store, wants, 0, NULL, NULL), "the done function is NULL");
    REFUSED(sluice_store_receive_all(store, wants, 0, NULL, NULL), "the done function is NULL");
    REFUSED(sluice_store_when_read(store, key_of(rank, 1, 0), NULL, NULL), "the read function is NULL");
    REFUSED(sluice_store_wait_for(store, NULL, 1), "counter is NULL");
    REFUSED(sluice_store_get_report(store, NULL), "report is NULL");
    REFUSED(sluice_store_send(store, size, key_of(rank, 1, 0), 8, pack, NULL), "but the context has ranks 0 to");
    REFUSED(sluice_store_send(store, 0, key_of(rank, 1, 0), 8, pack_nothing, NULL), "its pack function returned 7");
    REFUSED(sluice_store_send_bytes(store, 0, key_of(rank + 1, 1, 0), face, 8), "the key belongs to another rank");

    memset(&wrong_size, 0, sizeof wrong_size);
    not_packed = unknown = right = unsent = wrong_size;
    OK(sluice_store_publish_bytes(store, key_of(rank, 1, 0), face, sizeof face, 1));
    REFUSED(sluice_store_publish_bytes(store, key_of(rank, 1, 0), face, sizeof face, 1), "published already");
    OK(sluice_store_publish_bytes(store, key_of(rank, 4, 0), face, sizeof face, 1));
    OK(sluice_store_withdraw(store, key_of(rank, 4, 0)));
    REFUSED(sluice_store_withdraw(store, key_of(rank + 1, 4, 0)), "the key belongs to another rank");
    OK(sluice_store_publish(store, key_of(rank, 2, 0), 8, pack_nothing, NULL, 1));
    OK(sluice_store_close(store, 0));
    wants[0] = want_of(rank_before(), 1, 0, 25);
    OK(sluice_store_fetch_all(store, wants, 1, tell, &wrong_size));
    wants[0] = want_of(rank_before(), 2, 0, 8);
    OK(sluice_store_fetch_all(store, wants, 1, tell, &not_packed));
    wants[0] = want_of(rank_before(), 1, 0, SLUICE_ANY_BYTES);
    wants[1] = want_of(rank_before(), 3, 0, SLUICE_ANY_BYTES);
    OK(sluice_store_fetch_all(store, wants, 2, tell, &unknown));
    OK(sluice_store_fetch_all(store, wants, 1, tell, &right));
    OK(sluice_store_receive_all(store, wants, 1, tell, &unsent));
    EXPECT(wrong_size.calls + not_packed.calls + unknown.calls + right.calls + unsent.calls == 0);
    OK(sluice_store_wait(store));
    EXPECT(wrong_size.calls == 1 && not_packed.calls == 1 && unknown.calls == 1);
    EXPECT(right.calls == 1 && unsent.calls == 1);
    snprintf(sides, sizeof sides, "rank %d fetches id 1 of epoch 0 from rank %d (25 bytes); rank %d says: ", rank,
             rank_before(), rank_before());
    EXPECT(wrong_size.code == SLUICE_INVALID_ARGUMENT && strstr(wrong_size.text, sides) == wrong_size.text);
    EXPECT(wrong_size.kept == NULL);
    EXPECT(not_packed.code == SLUICE_INVALID_ARGUMENT && strstr(not_packed.text, "returned 7") != NULL);
    EXPECT(unknown.code == SLUICE_INVALID_ARGUMENT && strstr(unknown.text, "closed the epochs up to 0") != NULL);
    EXPECT(unsent.code == SLUICE_INVALID_ARGUMENT && strstr(unsent.text, "it has not sent the data") != NULL);
    EXPECT(right.code == SLUICE_SUCCESS);
    OK(sluice_store_progress(store, &moved));
    OK(sluice_store_free(&store));

    kept = right.kept; /* the data outlive the store */
    EXPECT(sluice_fetched_bytes(kept, 0) == sizeof face);
    EXPECT(sluice_fetched_data(kept, 0) != NULL && memcmp(sluice_fetched_data(kept, 0), face, sizeof face) == 0);
    OK(sluice_fetched_free(&kept));
    OK(sluice_fetched_free(&kept));
    REFUSED(sluice_fetched_free(NULL), "is NULL");
}

int main(int argc, char** argv) {
    sluice_context* context = NULL;
    int all_faults = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    OK(sluice_context_create(MPI_COMM_WORLD, NULL, &context));
    iterate(context, 0);
    iterate(context, 1);
    misuse(context);
    OK(sluice_context_free(&context));
    MPI_Allreduce(&faults, &all_faults, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return all_faults != 0;
}
