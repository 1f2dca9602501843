/* SPDX-License-Identifier: BSD-3-Clause */
// MPI-IO in the folder $SCRATCH: pointers of each kind, views, collective and nonblocking calls, and the content of the
// file.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "transcript.h"

enum { k_ints = 3000 };

static char const* scratch(char const* name) {
    static char path[4096];
    char const* folder = getenv("SCRATCH");
    snprintf(path, sizeof path, "%s/%s", folder != NULL ? folder : ".", name);
    return path;
}

static MPI_File open_file(char const* name, int mode) {
    MPI_File file = MPI_FILE_NULL;
    int code = MPI_File_open(MPI_COMM_WORLD, scratch(name), mode, MPI_INFO_NULL, &file);
    called("MPI_File_open", code);
    return file;
}

static void say_contents(char const* name) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (me != 0) return;
    FILE* file = fopen(scratch(name), "rb");
    if (file == NULL) {
        say("%s: not there", name);
        return;
    }
    static char bytes[1 << 20];
    size_t length = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    say_bytes(name, bytes, length);
}

static void explicit_offsets(void) {
    MPI_File file = open_file("offsets", MPI_MODE_CREATE | MPI_MODE_RDWR);
    int out[k_ints];
    int in[k_ints];
    MPI_Status status = untouched_status();
    fill(out, sizeof out, (unsigned)me);
    MPI_Offset mine = (MPI_Offset)sizeof out * me;
    MPI_Offset next = (MPI_Offset)sizeof out * ((me + 1) % ranks);
    CALL(MPI_File_write_at_all(file, mine, out, k_ints, MPI_INT, &status));
    int count = -1;
    MPI_Get_count(&status, MPI_INT, &count);
    say("wrote %d", count);
    CALL(MPI_File_sync(file));
    MPI_Barrier(MPI_COMM_WORLD);
    memset(in, 0, sizeof in);
    CALL(MPI_File_read_at(file, next, in, k_ints, MPI_INT, &status));
    say_bytes("read_at", in, sizeof in);
    memset(in, 0, sizeof in);
    CALL(MPI_File_read_at_all(file, next, in, k_ints, MPI_INT, MPI_STATUS_IGNORE));
    say_bytes("read_at_all", in, sizeof in);

    MPI_Request request;
    memset(in, 0, sizeof in);
    CALL(MPI_File_iread_at(file, mine, in, k_ints, MPI_INT, &request));
    status = untouched_status();
    CALL(MPI_Wait(&request, &status));
    MPI_Get_count(&status, MPI_INT, &count);
    say("iread_at: %d", count);
    say_bytes("iread_at", in, sizeof in);
    for (int i = 0; i < k_ints; ++i)
        out[i] = ~out[i];
    MPI_Barrier(MPI_COMM_WORLD);
    CALL(MPI_File_iwrite_at(file, mine, out, k_ints, MPI_INT, &request));
    int flag = 0;
    while (!flag)
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    say("null again: %d", request == MPI_REQUEST_NULL);
    CALL(MPI_File_iread_at_all(file, mine, in, k_ints, MPI_INT, &request));
    CALL(MPI_Wait(&request, MPI_STATUS_IGNORE));
    say_bytes("iread_at_all", in, sizeof in);
    MPI_Offset size = -1;
    CALL(MPI_File_get_size(file, &size));
    say("size %lld", (long long)size);
    CALL(MPI_File_close(&file));
    say("null again: %d", file == MPI_FILE_NULL);
    say_contents("offsets");
}

static void views(void) {
    MPI_File file = open_file("views", MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI_Datatype block;
    MPI_Datatype pattern;
    int out[k_ints];
    int in[k_ints];
    fill(out, sizeof out, (unsigned)me + 50);
    CALL(MPI_Type_contiguous(30, MPI_INT, &block));
    CALL(MPI_Type_create_resized(block, 0, 30 * (MPI_Aint)sizeof(int) * ranks, &pattern));
    CALL(MPI_Type_commit(&pattern));
    MPI_Offset start = 16 + 30 * (MPI_Offset)sizeof(int) * me;
    CALL(MPI_File_set_view(file, start, MPI_INT, pattern, "native", MPI_INFO_NULL));
    MPI_Status status = untouched_status();
    CALL(MPI_File_write_all(file, out, k_ints, MPI_INT, &status));
    CALL(MPI_File_sync(file));  // other ranks may have written the bytes that are read now
    MPI_Barrier(MPI_COMM_WORLD);
    CALL(MPI_File_sync(file));
    MPI_Offset position = -1;
    CALL(MPI_File_get_position(file, &position));
    say("position %lld", (long long)position);
    CALL(MPI_File_seek(file, 300, MPI_SEEK_SET));
    memset(in, 0, sizeof in);
    CALL(MPI_File_read(file, in, 600, MPI_INT, &status));
    int count = -1;
    MPI_Get_count(&status, MPI_INT, &count);
    say("read %d", count);
    say_bytes("read", in, sizeof in);
    MPI_Request request;
    CALL(MPI_File_seek(file, 0, MPI_SEEK_SET));
    CALL(MPI_File_iread_all(file, in, k_ints, MPI_INT, &request));
    CALL(MPI_Wait(&request, MPI_STATUS_IGNORE));
    say_bytes("iread_all", in, sizeof in);
    CALL(MPI_File_seek(file, 0, MPI_SEEK_SET));
    CALL(MPI_File_read_all_begin(file, in, k_ints, MPI_INT));
    CALL(MPI_File_read_all_end(file, in, MPI_STATUS_IGNORE));
    say_bytes("split collective", in, sizeof in);
    CALL(MPI_File_close(&file));
    CALL(MPI_Type_free(&pattern));
    CALL(MPI_Type_free(&block));
    say_contents("views");
}

static void shared_pointer(void) {
    MPI_File file = open_file("shared", MPI_MODE_CREATE | MPI_MODE_RDWR);
    int out[100];
    for (int i = 0; i < 100; ++i)
        out[i] = me * 100 + i;
    CALL(MPI_File_write_ordered(file, out, 100, MPI_INT, MPI_STATUS_IGNORE));
    CALL(MPI_File_set_size(file, 4 * (100 * ranks + 10)));
    CALL(MPI_File_preallocate(file, 4 * (100 * ranks + 20)));
    CALL(MPI_File_close(&file));
    say_contents("shared");
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0) CALL(MPI_File_delete(scratch("shared"), MPI_INFO_NULL));
    say_contents("shared");
}

// Files return their errors by default.
static void errors(void) {
    MPI_File file = MPI_FILE_NULL;
    CALL(MPI_File_open(MPI_COMM_SELF, scratch("absent"), MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    CALL(MPI_File_delete(scratch("absent"), MPI_INFO_NULL));
    file = open_file("offsets", MPI_MODE_RDONLY);
    int value = 1;
    CALL(MPI_File_write_at(file, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    CALL(MPI_File_read_at(file, -5, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    int mode = -1;
    CALL(MPI_File_get_amode(file, &mode));
    say("read only: %d", mode == MPI_MODE_RDONLY);
    CALL(MPI_File_close(&file));
}

int main(int argc, char** argv) {
    begin(&argc, &argv);
    explicit_offsets();
    views();
    shared_pointer();
    errors();
    return end();
}
