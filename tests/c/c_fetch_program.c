/* SPDX-License-Identifier: BSD-3-Clause */
/* A program in C that publishes, fetches, sends and receives by callbacks, which call the store again; it also makes
 * every kind of wrong use that only C allows. The exit code is 1 if anything is wrong. */
#include "c_check.h"

enum { EPOCHS = 6, WORDS = 700 };

static int next_rank(void) {
    return (rank + 1) % size;
}
static int rank_before(void) {
    return (rank + size - 1) % size;
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

static void got(void* user, int code, sluice_fetch_result* fetched) {
    Ring* const ring = user;
    uint64_t const* words = sluice_fetch_result_data(fetched, 0);
    uint64_t i;
    EXPECT(code == SLUICE_SUCCESS);
    EXPECT(sluice_fetch_result_count(fetched) == 1);
    EXPECT(sluice_fetch_result_bytes(fetched, 0) == WORDS * sizeof(uint64_t));
    EXPECT(sluice_fetch_result_data(fetched, 1) == NULL && sluice_fetch_result_bytes(fetched, 1) == 0);
    for (i = 0; words != NULL && i < WORDS; ++i)
        ring->right += words[i] == word_of(rank_before(), ring->epoch, i);
    OK(sluice_fetch_result_free(&fetched));
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
    sluice_fetch_request const request =
        request_of(rank_before(), 1, ring->epoch, ring->epoch % 2 ? SLUICE_ANY_BYTES : WORDS * sizeof(uint64_t));
    packed[ring->epoch].epoch = ring->epoch;
    if (ring->by_sending) {
        OK(sluice_store_send(ring->store, next_rank(), own, WORDS * sizeof(uint64_t), pack, &packed[ring->epoch]));
        OK(sluice_store_receive_all(ring->store, &request, 1, got, ring));
    } else {
        OK(sluice_store_publish(ring->store, own, WORDS * sizeof(uint64_t), pack, &packed[ring->epoch], 1));
        OK(sluice_store_when_all_have_it(ring->store, own, count_read, ring));
        OK(sluice_store_fetch_all(ring->store, &request, 1, got, ring));
    }
}

static void iterate(sluice_context* context, int by_sending) {
    Ring ring;
    sluice_report* report = NULL;
    memset(&ring, 0, sizeof ring);
    ring.by_sending = by_sending;
    OK(sluice_store_create(context, &ring.store));
    next_iteration(&ring);
    OK(sluice_store_wait(ring.store));
    EXPECT(ring.done == EPOCHS);
    EXPECT(ring.right == EPOCHS * WORDS);
    if (!by_sending) OK(sluice_store_wait_for(ring.store, &ring.read, EPOCHS));
    OK(sluice_store_finish(ring.store));
    OK(sluice_report_create(&report));
    OK(sluice_store_report(ring.store, report));
    EXPECT(figure(report, "sets") == EPOCHS && figure(report, "held") == 0 && figure(report, "peak") > 0);
    EXPECT(figure(report, "fetched") + figure(report, "fetched_here") == (by_sending ? 0 : EPOCHS));
    EXPECT(figure(report, "sent") == (by_sending ? EPOCHS : 0) && figure(report, "received") == figure(report, "sent"));
    EXPECT(figure(report, "fetched_bytes") + figure(report, "received_bytes") == EPOCHS * WORDS * sizeof(uint64_t));
    OK(sluice_report_free(&report));
    OK(sluice_store_free(&ring.store));
    EXPECT(ring.store == NULL);
    OK(sluice_store_free(&ring.store)); /* there is nothing to free */
}

/* --- errors --- */

typedef struct Told {
    int calls;
    int code;
    char text[400];
    sluice_fetch_result* kept;
} Told;

static void tell(void* user, int code, sluice_fetch_result* fetched) {
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
    sluice_fetch_result* kept;
    sluice_data_sink* no_sink = NULL;
    Told wrong_size, not_packed, unknown, right, unsent;
    sluice_fetch_request requests[2];
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
    REFUSED(sluice_store_fetch_all(store, NULL, 3, tell, NULL), "requests is NULL, count is 3");
    EXPECT(sluice_store_fetch_all(store, requests, SIZE_MAX, tell, NULL) == SLUICE_OUT_OF_MEMORY);
    REFUSED(sluice_store_fetch_all(store, requests, 0, NULL, NULL), "the done function is NULL");
    REFUSED(sluice_store_receive_all(store, requests, 0, NULL, NULL), "the done function is NULL");
    REFUSED(sluice_store_when_all_have_it(store, key_of(rank, 1, 0), NULL, NULL), "the done function is NULL");
    REFUSED(sluice_store_when_all_have_them(store, NULL, 0, NULL, NULL), "the done function is NULL");
    REFUSED(sluice_store_when_all_have_them(store, NULL, 2, count_read, NULL), "keys is NULL, count is 2");
    REFUSED(sluice_store_wait_for(store, NULL, 1), "counter is NULL");
    REFUSED(sluice_store_wait_until(store, NULL, NULL), "the condition is NULL");
    REFUSED(sluice_store_report(store, NULL), "report is NULL");
    REFUSED(sluice_store_report(NULL, NULL), "is NULL");
    REFUSED(sluice_store_publish_lazily(store, key_of(rank, 1, 0), 8, NULL, NULL, 1), "the source function is NULL");
    REFUSED(sluice_data_sink_complete(NULL, NULL, 0), "is NULL");
    REFUSED(sluice_data_sink_fail(&no_sink, "why"), "the sink is NULL");
    EXPECT(sluice_store_open_sets(NULL) == 0 && sluice_store_open_sets(store) == 0);
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
    requests[0] = request_of(rank_before(), 1, 0, 25);
    OK(sluice_store_fetch_all(store, requests, 1, tell, &wrong_size));
    requests[0] = request_of(rank_before(), 2, 0, 8);
    OK(sluice_store_fetch_all(store, requests, 1, tell, &not_packed));
    requests[0] = request_of(rank_before(), 1, 0, SLUICE_ANY_BYTES);
    requests[1] = request_of(rank_before(), 3, 0, SLUICE_ANY_BYTES);
    OK(sluice_store_fetch_all(store, requests, 2, tell, &unknown));
    OK(sluice_store_fetch_all(store, requests, 1, tell, &right));
    OK(sluice_store_receive_all(store, requests, 1, tell, &unsent));
    EXPECT(sluice_store_open_sets(store) == 5);
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
    EXPECT(sluice_fetch_result_bytes(kept, 0) == sizeof face);
    EXPECT(sluice_fetch_result_data(kept, 0) != NULL &&
           memcmp(sluice_fetch_result_data(kept, 0), face, sizeof face) == 0);
    OK(sluice_fetch_result_free(&kept));
    OK(sluice_fetch_result_free(&kept));
    REFUSED(sluice_fetch_result_free(NULL), "is NULL");
}

/* --- data that are elsewhere --- */

enum { SINKS = 4 };

/* A disk that answers later: what it was asked for waits here. */
typedef struct Disk {
    sluice_data_sink* asked[SINKS];
    uint64_t requests;
    uint64_t read; /* publications that all readers have */
    uint64_t content;
} Disk;

static void ask_disk(void* user, sluice_data_sink* sink) {
    Disk* const disk = user;
    if (disk->requests < SINKS) disk->asked[disk->requests] = sink;
    ++disk->requests;
}

static void answer_at_once(void* user, sluice_data_sink* sink) {
    Disk* const disk = user;
    OK(sluice_data_sink_complete(&sink, &disk->content, sizeof disk->content));
    EXPECT(sink == NULL);
    REFUSED(sluice_data_sink_complete(&sink, &disk->content, sizeof disk->content), "the sink is NULL");
}

static void refuse(void* user, sluice_data_sink* sink) {
    (void)user;
    REFUSED(sluice_data_sink_complete(&sink, NULL, 8), "data is NULL, bytes is 8"); /* and is not ended */
    REFUSED(sluice_data_sink_fail(&sink, NULL), "why is NULL");
    OK(sluice_data_sink_fail(&sink, "the disk is full of dust"));
}

static void bring_too_little(void* user, sluice_data_sink* sink) {
    OK(sluice_data_sink_complete(&sink, &((Disk*)user)->content, 4));
}

static void count_delivered(void* user) {
    ++((Disk*)user)->read;
}

static int was_asked(void* user) {
    return ((Disk*)user)->requests > 0;
}

static void elsewhere(sluice_context* context) {
    sluice_store* store = NULL;
    sluice_fetch_request request;
    sluice_key delivered[2];
    Told later, at_once, refused, too_little;
    Disk disk;
    uint64_t expected = word_of(rank_before(), 1, 2);
    int i;
    memset(&disk, 0, sizeof disk);
    memset(&later, 0, sizeof later);
    at_once = refused = too_little = later;
    disk.content = word_of(rank, 1, 2);
    OK(sluice_store_create(context, &store));
    OK(sluice_store_publish_lazily(store, key_of(rank, 1, 0), 8, ask_disk, &disk, 1));
    OK(sluice_store_publish_lazily(store, key_of(rank, 2, 0), 8, answer_at_once, &disk, 1));
    OK(sluice_store_publish_lazily(store, key_of(rank, 3, 0), 8, refuse, NULL, 1));
    OK(sluice_store_publish_lazily(store, key_of(rank, 4, 0), 8, bring_too_little, &disk, 1));
    REFUSED(sluice_store_publish_lazily(store, key_of(rank + 1, 1, 0), 8, ask_disk, &disk, 1), "another rank");
    OK(sluice_store_when_all_have_it(store, key_of(rank, 1, 0), count_delivered, &disk));
    delivered[0] = key_of(rank, 1, 0);
    delivered[1] = key_of(rank, 2, 0);
    OK(sluice_store_when_all_have_them(store, delivered, 2, count_delivered, &disk));
    request = request_of(rank_before(), 1, 0, 8);
    OK(sluice_store_fetch_all(store, &request, 1, tell, &later));
    request.key.id = 2;
    OK(sluice_store_fetch_all(store, &request, 1, tell, &at_once));
    request.key.id = 3;
    OK(sluice_store_fetch_all(store, &request, 1, tell, &refused));
    request.key.id = 4;
    OK(sluice_store_fetch_all(store, &request, 1, tell, &too_little));
    OK(sluice_store_wait_until(store, was_asked, &disk));
    EXPECT(disk.requests == 1 && disk.read == 0);
    OK(sluice_data_sink_complete(&disk.asked[0], &disk.content, sizeof disk.content)); /* between two calls */
    OK(sluice_store_wait(store));
    OK(sluice_store_wait_for(store, &disk.read, 2));
    EXPECT(later.calls == 1 && later.code == SLUICE_SUCCESS);
    EXPECT(at_once.calls == 1 && at_once.code == SLUICE_SUCCESS);
    EXPECT(refused.calls == 1 && refused.code == SLUICE_INVALID_ARGUMENT);
    EXPECT(strstr(refused.text, "it could not bring the data: the disk is full of dust") != NULL);
    EXPECT(too_little.calls == 1 && strstr(too_little.text, "published 8 bytes and brought 4") != NULL);
    for (i = 0; i < 2; ++i) {
        sluice_fetch_result** const got_here = i == 0 ? &later.kept : &at_once.kept;
        EXPECT(sluice_fetch_result_bytes(*got_here, 0) == 8);
        EXPECT(*got_here != NULL && memcmp(sluice_fetch_result_data(*got_here, 0), &expected, 8) == 0);
        OK(sluice_fetch_result_free(got_here));
    }
    OK(sluice_store_free(&store));
}

/* --- data that change too early, under the setting check --- */

static int has_ended(void* user) {
    return ((Told*)user)->calls > 0;
}

static void changed(void) {
    sluice_options* options = NULL;
    sluice_context* context = NULL;
    sluice_store* store = NULL;
    uint64_t face[2] = {1, 2};
    Told reader;
    int code = SLUICE_SUCCESS;
    sluice_fetch_request const request = request_of(rank_before(), 1, 0, sizeof face);
    memset(&reader, 0, sizeof reader);
    OK(sluice_options_create(&options));
    OK(sluice_options_set(options, "check", "data"));
    OK(sluice_context_create(MPI_COMM_WORLD, options, &context));
    OK(sluice_options_free(&options));
    OK(sluice_store_create(context, &store));
    OK(sluice_store_publish_bytes(store, key_of(rank, 1, 0), face, sizeof face, 1));
    face[1] = 3;
    MPI_Barrier(MPI_COMM_WORLD);
    OK(sluice_store_fetch_all(store, &request, 1, tell, &reader));
    while (reader.calls == 0) { /* the owner's error ends a wait */
        int const ended = sluice_store_wait_until(store, has_ended, &reader);
        if (ended != SLUICE_SUCCESS) code = ended;
    }
    EXPECT(reader.code == SLUICE_INVALID_ARGUMENT && strstr(reader.text, "other bytes than were published") != NULL);
    if (code == SLUICE_SUCCESS)
        code = sluice_store_finish(store);
    else
        OK(sluice_store_finish(store));
    EXPECT(code == (size == 1 ? SLUICE_SUCCESS : SLUICE_INVALID_ARGUMENT)); /* a rank's own reader has the error */
    OK(sluice_store_free(&store));
    OK(sluice_context_free(&context));
}

int main(int argc, char** argv) {
    sluice_context* const context = begin(&argc, &argv);
    iterate(context, 0);
    iterate(context, 1);
    misuse(context);
    elsewhere(context);
    changed();
    return end(context);
}
