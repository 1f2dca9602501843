/* SPDX-License-Identifier: BSD-3-Clause */
// Every way to initialise MPI: init_variants HOW, where HOW is plain, null, single, funneled, serialized or multiple.
// The provided level and the answers of queries must be the same as without a layer, also before MPI_Init and after
// MPI_Finalize.
#include <stdio.h>
#include <string.h>

#include "transcript.h"

static void queries(char const* when) {
    int initialized = -1;
    int finalized = -1;
    int version = -1;
    int subversion = -1;
    int length = -1;
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    say("%s", when);
    CALL(MPI_Initialized(&initialized));
    CALL(MPI_Finalized(&finalized));
    CALL(MPI_Get_version(&version, &subversion));
    CALL(MPI_Get_library_version(text, &length));
    say("initialized %d finalized %d version %d.%d", initialized, finalized, version, subversion);
    say_bytes("library", text, strlen(text));
}

static int begin_by(char const* how, int* argc, char*** argv) {
    int provided = -1;
    if (strcmp(how, "plain") == 0) return CALL(MPI_Init(argc, argv));
    if (strcmp(how, "null") == 0) return CALL(MPI_Init(NULL, NULL));
    int level = MPI_THREAD_SINGLE;
    if (strcmp(how, "funneled") == 0) level = MPI_THREAD_FUNNELED;
    if (strcmp(how, "serialized") == 0) level = MPI_THREAD_SERIALIZED;
    if (strcmp(how, "multiple") == 0) level = MPI_THREAD_MULTIPLE;
    int code = CALL(MPI_Init_thread(argc, argv, level, &provided));
    say("asked for %d, provided %d", level, provided);
    return code;
}

int main(int argc, char** argv) {
    char const* how = argc > 1 ? argv[1] : "plain";
    open_transcript("");
    queries("before");
    if (begin_by(how, &argc, &argv) != MPI_SUCCESS) return 1;
    say_ints("arguments", &argc, 1);
    for (int i = 1; i < argc; ++i)
        say("argument \"%s\"", argv[i]);
    queries("between");
    int level = -1;
    int is_main = -1;
    CALL(MPI_Query_thread(&level));
    CALL(MPI_Is_thread_main(&is_main));
    say("level %d main %d", level, is_main);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm parent = MPI_COMM_WORLD;
    CALL(MPI_Comm_get_parent(&parent));
    say("no parent: %d", parent == MPI_COMM_NULL);
    MPI_Errhandler handler;
    CALL(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler));
    say("errors are fatal: %d", handler == MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&handler);

    int sum = 0;
    CALL(MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    say("sum %d", sum);
    static int data[64 * 16384];
    for (int i = 0; i < ranks * 16384; ++i)
        data[i] = me * 7 + i;
    CALL(MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, 16384, MPI_INT, MPI_COMM_WORLD));
    say_bytes("exchanged", data, sizeof(int) * 16384 * (size_t)ranks);
    CALL(MPI_Finalize());
    queries("after");
    return 0;
}
