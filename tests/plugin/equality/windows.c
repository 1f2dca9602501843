/* SPDX-License-Identifier: BSD-3-Clause */
// One-sided communication: every kind of window, synchronisation and access.
#include <stdlib.h>
#include <string.h>

#include "transcript.h"

enum { k_cells = 512 };

static int left(void) {
    return (me + ranks - 1) % ranks;
}
static int right(void) {
    return (me + 1) % ranks;
}

static void by_fence(MPI_Win window, double* memory) {
    double out[k_cells];
    double in[k_cells] = {0};
    for (int i = 0; i < k_cells; ++i) {
        out[i] = me * 1000 + i;
        memory[i] = -1;
    }
    CALL(MPI_Win_fence(MPI_MODE_NOPRECEDE, window));
    CALL(MPI_Put(out, k_cells / 2, MPI_DOUBLE, right(), 10, k_cells / 2, MPI_DOUBLE, window));
    CALL(MPI_Win_fence(0, window));
    say_bytes("put", memory, sizeof out);
    CALL(MPI_Get(in, k_cells, MPI_DOUBLE, left(), 0, k_cells, MPI_DOUBLE, window));
    CALL(MPI_Win_fence(0, window));
    say_bytes("got", in, sizeof in);
    for (int i = 0; i < k_cells; ++i)
        out[i] = me + 1;
    CALL(MPI_Accumulate(out, k_cells, MPI_DOUBLE, 0, 0, k_cells, MPI_DOUBLE, MPI_SUM, window));
    CALL(MPI_Win_fence(MPI_MODE_NOSUCCEED, window));
    say_bytes("accumulated", memory, sizeof out);
}

static void by_lock(MPI_Win window, double* memory) {
    MPI_Barrier(MPI_COMM_WORLD);
    CALL(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, me, 0, window));
    for (int i = 0; i < k_cells; ++i)
        memory[i] = 0;
    CALL(MPI_Win_unlock(me, window));
    MPI_Barrier(MPI_COMM_WORLD);
    double value = me + 0.25;
    CALL(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right(), 0, window));
    CALL(MPI_Put(&value, 1, MPI_DOUBLE, right(), 3, 1, MPI_DOUBLE, window));
    CALL(MPI_Win_flush(right(), window));
    double back = -1;
    CALL(MPI_Get(&back, 1, MPI_DOUBLE, right(), 3, 1, MPI_DOUBLE, window));
    CALL(MPI_Win_flush_local(right(), window));
    CALL(MPI_Win_unlock(right(), window));
    say("back %.2f", back);
    MPI_Barrier(MPI_COMM_WORLD);

    CALL(MPI_Win_lock_all(0, window));
    double one = 1;
    double old = -1;
    for (int i = 0; i < 10; ++i)
        MPI_Accumulate(&one, 1, MPI_DOUBLE, 0, 5, 1, MPI_DOUBLE, MPI_SUM, window);
    CALL(MPI_Win_flush_all(window));
    MPI_Barrier(MPI_COMM_WORLD);
    CALL(MPI_Fetch_and_op(&one, &old, MPI_DOUBLE, 0, 5, MPI_NO_OP, window));
    CALL(MPI_Win_flush(0, window));
    say("counted %.0f", old);
    double many[4] = {1, 2, 3, 4};
    double before[4] = {0};
    CALL(MPI_Get_accumulate(many, 4, MPI_DOUBLE, before, 4, MPI_DOUBLE, me, 20, 4, MPI_DOUBLE, MPI_REPLACE, window));
    CALL(MPI_Win_flush(me, window));
    say("before %.0f", before[3]);
    MPI_Request request;
    MPI_Status status = untouched_status();
    CALL(MPI_Rget(before, 4, MPI_DOUBLE, me, 20, 4, MPI_DOUBLE, window, &request));
    CALL(MPI_Wait(&request, &status));
    say("rget %.0f, MPI_ERROR untouched %d", before[3], status.MPI_ERROR == k_untouched);
    CALL(MPI_Rput(many, 4, MPI_DOUBLE, me, 30, 4, MPI_DOUBLE, window, &request));
    CALL(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CALL(MPI_Win_sync(window));
    CALL(MPI_Win_unlock_all(window));
    MPI_Barrier(MPI_COMM_WORLD);
    say_bytes("at the end", memory, sizeof(double) * k_cells);
}

static void by_groups(MPI_Win window, double* memory) {
    if (ranks < 2) return;
    MPI_Group world;
    MPI_Group to;
    MPI_Group from;
    int target = right();
    int source = left();
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &target, &to);
    MPI_Group_incl(world, 1, &source, &from);
    memory[7] = -1;
    double value = me * 2.0;
    CALL(MPI_Win_post(from, 0, window));
    CALL(MPI_Win_start(to, 0, window));
    CALL(MPI_Put(&value, 1, MPI_DOUBLE, target, 7, 1, MPI_DOUBLE, window));
    CALL(MPI_Win_complete(window));
    CALL(MPI_Win_wait(window));
    say("post-start-complete-wait: %.1f", memory[7]);
    CALL(MPI_Win_post(from, 0, window));
    CALL(MPI_Win_start(to, 0, window));
    CALL(MPI_Win_complete(window));
    int flag = 0;
    while (!flag)
        MPI_Win_test(window, &flag);
    say("tested");
    MPI_Group_free(&to);
    MPI_Group_free(&from);
    MPI_Group_free(&world);
}

static void properties(char const* what, MPI_Win window) {
    void* base = NULL;
    MPI_Aint* size = NULL;
    int* unit = NULL;
    int* flavor = NULL;
    int* model = NULL;
    int flags[5] = {0};
    MPI_Win_get_attr(window, MPI_WIN_BASE, &base, &flags[0]);
    MPI_Win_get_attr(window, MPI_WIN_SIZE, &size, &flags[1]);
    MPI_Win_get_attr(window, MPI_WIN_DISP_UNIT, &unit, &flags[2]);
    MPI_Win_get_attr(window, MPI_WIN_CREATE_FLAVOR, &flavor, &flags[3]);
    MPI_Win_get_attr(window, MPI_WIN_MODEL, &model, &flags[4]);
    say_ints("attributes", flags, 5);
    say("%s: size %ld unit %d flavor %d model %d", what, (long)*size, *unit, *flavor, *model);
    char name[MPI_MAX_OBJECT_NAME] = "";
    int length = 0;
    CALL(MPI_Win_set_name(window, what));
    CALL(MPI_Win_get_name(window, name, &length));
    say("\"%s\" %d", name, length);
    CALL(MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN));
}

static void access_all(char const* what, MPI_Win window, double* memory) {
    properties(what, window);
    by_fence(window, memory);
    by_lock(window, memory);
    by_groups(window, memory);
    MPI_Barrier(MPI_COMM_WORLD);
    CALL(MPI_Win_free(&window));
    say("null again: %d", window == MPI_WIN_NULL);
}

static void integers(void) {
    long* memory = NULL;
    MPI_Win window;
    MPI_Win_allocate(8 * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    for (int i = 0; i < 8; ++i)
        memory[i] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, window);
    long expected = 0;
    long mine = me + 1;
    long old = -1;
    CALL(MPI_Compare_and_swap(&mine, &expected, &old, MPI_LONG, me, 2, window));
    CALL(MPI_Win_flush(me, window));
    say("swapped in over %ld", old);
    CALL(MPI_Compare_and_swap(&mine, &expected, &old, MPI_LONG, me, 2, window));
    CALL(MPI_Win_flush(me, window));
    say("not over %ld", old);
    long bit = 1L << me;
    CALL(MPI_Fetch_and_op(&bit, &old, MPI_LONG, 0, 4, MPI_BOR, window));
    MPI_Win_unlock_all(window);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0) say("all bits %ld", memory[4]);
    CALL(MPI_Win_free(&window));
}

static void dynamic(void) {
    double* memory = room(sizeof(double) * k_cells);
    MPI_Win window;
    MPI_Aint address = 0;
    MPI_Aint there = 0;
    for (int i = 0; i < k_cells; ++i)
        memory[i] = me + i;
    if (CALL(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window)) != MPI_SUCCESS) {
        free(memory);
        return;
    }
    CALL(MPI_Win_attach(window, memory, sizeof(double) * k_cells));
    MPI_Get_address(memory, &address);
    MPI_Sendrecv(&address, 1, MPI_AINT, left(), 1, &there, 1, MPI_AINT, right(), 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    double in[16] = {0};
    CALL(MPI_Win_lock(MPI_LOCK_SHARED, right(), 0, window));
    CALL(MPI_Get(in, 16, MPI_DOUBLE, right(), there, 16, MPI_DOUBLE, window));
    CALL(MPI_Win_unlock(right(), window));
    say_bytes("dynamic", in, sizeof in);
    MPI_Barrier(MPI_COMM_WORLD);
    CALL(MPI_Win_detach(window, memory));
    CALL(MPI_Win_free(&window));
    free(memory);
}

static void shared(void) {
    double* memory = NULL;
    MPI_Win window;
    CALL(MPI_Win_allocate_shared(sizeof(double) * k_cells, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &memory,
                                 &window));
    CALL(MPI_Win_lock_all(0, window));
    for (int i = 0; i < k_cells; ++i)
        memory[i] = me * 7 + i;
    CALL(MPI_Win_sync(window));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Aint size = 0;
    int unit = 0;
    double* theirs = NULL;
    CALL(MPI_Win_shared_query(window, right(), &size, &unit, &theirs));
    say("size %ld unit %d", (long)size, unit);
    say_bytes("seen", theirs, sizeof(double) * k_cells);
    MPI_Barrier(MPI_COMM_WORLD);
    CALL(MPI_Win_unlock_all(window));
    CALL(MPI_Win_free(&window));
}

int main(int argc, char** argv) {
    begin(&argc, &argv);
    MPI_Aint bytes = sizeof(double) * k_cells;
    MPI_Win window;
    double* own = room((size_t)bytes);
    // Open MPI 4.1.4 has no component for a window of one rank in memory of the program.
    if (CALL(MPI_Win_create(own, bytes, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &window)) == MPI_SUCCESS) {
        access_all("create", window, own);
    }
    free(own);
    double* memory = NULL;
    CALL(MPI_Win_allocate(bytes, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window));
    access_all("allocate", window, memory);
    integers();
    dynamic();
    shared();
    void* special = NULL;
    CALL(MPI_Alloc_mem(10000, MPI_INFO_NULL, &special));
    memset(special, 1, 10000);
    CALL(MPI_Free_mem(special));
    return end();
}
