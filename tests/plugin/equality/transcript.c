/* SPDX-License-Identifier: BSD-3-Clause */
#include "transcript.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int me = 0;
int ranks = 1;
static FILE* transcript = NULL;
static FILE* layer = NULL;
static pid_t opener = 0;

static FILE* open_part(char const* prefix, char const* rank, char const* ending) {
    char const* folder = getenv("TRANSCRIPT");
    if (folder == NULL) return NULL;
    char path[4096];
    snprintf(path, sizeof path, "%s/%s%s.%s", folder, prefix, rank, ending);
    FILE* file = fopen(path, "w");
    if (file == NULL) {
        perror(path);
        exit(90);
    }
    return file;
}

// The maps are read at the end: otherwise a plugin that unloads itself, or is loaded late, would be missed.
static void say_layer(void) {
    if (layer == NULL || getpid() != opener) return;  // a forked child also gets here
    char line[4096];
    int loaded = 0;
    FILE* maps = fopen("/proc/self/maps", "r");
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL)
        loaded |= strstr(line, "libsluice-preload-") != NULL;
    if (maps != NULL) fclose(maps);
    fprintf(layer, "%s\n", loaded ? "loaded" : "absent");
    fclose(layer);
    layer = NULL;
}

void open_transcript(char const* prefix) {
    char const* rank = getenv("OMPI_COMM_WORLD_RANK");
    if (rank == NULL) rank = getenv("PMI_RANK");
    if (rank == NULL) rank = "0";
    transcript = open_part(prefix, rank, "txt");
    layer = open_part(prefix, rank, "layer");
    opener = getpid();
    atexit(say_layer);
}

void say(char const* format, ...) {
    FILE* out = transcript != NULL ? transcript : stdout;
    va_list arguments;
    va_start(arguments, format);
    vfprintf(out, format, arguments);
    va_end(arguments);
    fputc('\n', out);
    fflush(out);  // so that the lines remain if the program dies
}

static void say_code(char const* text, int code) {
    int class = MPI_SUCCESS;
    if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
    if (class == MPI_SUCCESS) {
        say("%s: success", text);
    } else {
        say("%s: error class %d", text, class);
    }
}

int called(char const* text, int code) {
    say_code(text, code);
    return code;
}

void begin(int* argc, char*** argv) {
    open_transcript("");
    CALL(MPI_Init(argc, argv));
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    say("rank %d of %d", me, ranks);
    if (getenv("EQUALITY_ERRORS_ARE_FATAL") != NULL) return;
    CALL(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    CALL(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
}

int end(void) {
    MPI_Barrier(MPI_COMM_WORLD);
    CALL(MPI_Finalize());
    say("end");
    return 0;
}

MPI_Status untouched_status(void) {
    MPI_Status status;
    memset(&status, 0, sizeof status);
    status.MPI_SOURCE = k_untouched;
    status.MPI_TAG = k_untouched;
    status.MPI_ERROR = k_untouched;
    return status;
}

void say_status(char const* what, MPI_Status const* status, MPI_Datatype type) {
    int count = -1;
    int elements = -1;
    int cancelled = -1;
    char error[32] = "untouched";
    MPI_Get_count(status, type, &count);
    MPI_Get_elements(status, type, &elements);
    MPI_Test_cancelled(status, &cancelled);
    if (status->MPI_ERROR != k_untouched) {
        int class = -1;
        MPI_Error_class(status->MPI_ERROR, &class);
        snprintf(error, sizeof error, "class %d", class);
    }
    say("%s: source %d tag %d count %d elements %d cancelled %d MPI_ERROR %s", what, status->MPI_SOURCE,
        status->MPI_TAG, count, elements, cancelled, error);
}

void fill(void* buffer, size_t bytes, unsigned seed) {
    unsigned char* at = buffer;
    uint32_t state = seed * 2654435761U + 12345U;
    for (size_t i = 0; i < bytes; ++i) {
        state = state * 1664525U + 1013904223U;
        at[i] = (unsigned char)(state >> 24);
    }
}

uint64_t checksum(void const* buffer, size_t bytes) {
    unsigned char const* at = buffer;
    uint64_t sum = 14695981039346656037U;  // FNV-1a
    for (size_t i = 0; i < bytes; ++i)
        sum = (sum ^ at[i]) * 1099511628211U;
    return sum;
}

void say_bytes(char const* what, void const* buffer, size_t bytes) {
    say("%s: %zu bytes %016llx", what, bytes, (unsigned long long)checksum(buffer, bytes));
}

void say_ints(char const* what, int const* values, int count) {
    char line[2048];
    size_t used = 0;
    line[0] = '\0';
    for (int i = 0; i < count && used + 16 < sizeof line; ++i) {
        used += (size_t)snprintf(line + used, sizeof line - used, " %d", values[i]);
    }
    say("%s:%s", what, line);
}

void* room(size_t bytes) {
    void* memory = malloc(bytes == 0 ? 1 : bytes);
    if (memory == NULL) {
        fprintf(stderr, "no memory for %zu bytes\n", bytes);
        exit(91);
    }
    return memory;
}

void say_text(char const* text) {
    say("%s", text);
}
