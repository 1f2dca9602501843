// SPDX-License-Identifier: BSD-3-Clause
// A library that is loaded before a program's MPI and counts by itself, with nothing of Sluice: entries of each
// function, time inside the outermost one, bytes of sends to one rank, and objects that are made and freed.
// check_report builds it with -DSTUBS="…", one STUB(number, name) for each function that the MPI exports, of C
// (MPI_Send) and of Fortran (mpi_send_).
//
//     program ── stub: push number ── enter_call() ── the MPI's function (or the next library's) ── leave_call() ──
//     program
//
// Each process writes $CHECKED_FOLDER/PID.json when it ends, and PID.here when it begins. x86-64 only. A function that
// is left by longjmp or an exception spoils the figures.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include STUBS  // enum { k_functions }, static char const* const k_names[], and the stubs in assembly

enum { k_depth = 64, k_kinds = 5 };

typedef struct {
    char const* name;  // in C, without MPI_
    int argument;      // the handle, or the number of handles that stand in the next argument
} Row;

typedef struct {
    char const* kind;
    Row const* makers;
    Row const* enders;
} Kind;

static Row const k_communicator_makers[] = {{"Comm_dup", 1},
                                            {"Comm_dup_with_info", 2},
                                            {"Comm_create", 2},
                                            {"Comm_create_group", 3},
                                            {"Comm_split", 3},
                                            {"Comm_split_type", 4},
                                            {"Cart_create", 5},
                                            {"Graph_create", 5},
                                            {"Cart_sub", 2},
                                            {"Dist_graph_create", 8},
                                            {"Dist_graph_create_adjacent", 9},
                                            {"Intercomm_create", 5},
                                            {"Intercomm_merge", 2},
                                            {NULL, 0}};
static Row const k_communicator_enders[] = {{"Comm_free", 0}, {"Comm_disconnect", 0}, {NULL, 0}};
static Row const k_window_makers[] = {
    {"Win_create", 5}, {"Win_allocate", 5}, {"Win_allocate_shared", 5}, {"Win_create_dynamic", 2}, {NULL, 0}};
static Row const k_window_enders[] = {{"Win_free", 0}, {NULL, 0}};
static Row const k_operation_makers[] = {{"Op_create", 2}, {NULL, 0}};
static Row const k_operation_enders[] = {{"Op_free", 0}, {NULL, 0}};
static Row const k_file_makers[] = {{"File_open", 4}, {NULL, 0}};
static Row const k_file_enders[] = {{"File_close", 0}, {NULL, 0}};
static Row const k_request_makers[] = {{"Isend", 6},
                                       {"Ibsend", 6},
                                       {"Issend", 6},
                                       {"Irsend", 6},
                                       {"Irecv", 6},
                                       {"Send_init", 6},
                                       {"Bsend_init", 6},
                                       {"Ssend_init", 6},
                                       {"Rsend_init", 6},
                                       {"Recv_init", 6},
                                       {"Ibarrier", 1},
                                       {"Ibcast", 5},
                                       {"Igather", 8},
                                       {"Igatherv", 9},
                                       {"Iscatter", 8},
                                       {"Iscatterv", 9},
                                       {"Iallgather", 7},
                                       {"Iallgatherv", 8},
                                       {"Ialltoall", 7},
                                       {"Ialltoallv", 9},
                                       {"Ialltoallw", 9},
                                       {"Iallreduce", 6},
                                       {"Ireduce", 7},
                                       {"Iscan", 6},
                                       {"Iexscan", 6},
                                       {"Ireduce_scatter", 6},
                                       {"Ireduce_scatter_block", 6},
                                       {"Imrecv", 4},
                                       {"Grequest_start", 4},
                                       {"Comm_idup", 2},

                                       {"Ineighbor_alltoall", 7},
                                       {"Ineighbor_alltoallv", 9},
                                       {"Ineighbor_alltoallw", 9},
                                       {"Ineighbor_allgather", 7},
                                       {"Ineighbor_allgatherv", 8},
                                       {"Rput", 8},
                                       {"Rget", 8},
                                       {"Raccumulate", 9},
                                       {"Rget_accumulate", 12},
                                       {"File_iread", 4},
                                       {"File_iwrite", 4},
                                       {"File_iread_at", 5},
                                       {"File_iwrite_at", 5},
                                       {NULL, 0}};
static Row const k_request_enders[] = {{"Wait", 0}, {"Test", 0}, {"Request_free", 0}, {NULL, 0}};
static Row const k_request_list_enders[] = {{"Waitall", 0},  {"Testall", 0},  {"Waitany", 0}, {"Testany", 0},
                                            {"Waitsome", 0}, {"Testsome", 0}, {NULL, 0}};
static Kind const k_kind[k_kinds] = {{"request", k_request_makers, k_request_enders},
                                     {"communicator", k_communicator_makers, k_communicator_enders},
                                     {"window", k_window_makers, k_window_enders},
                                     {"operation", k_operation_makers, k_operation_enders},
                                     {"file", k_file_makers, k_file_enders}};
static Row const k_senders[] = {{"Send", 0},   {"Bsend", 0},  {"Ssend", 0},  {"Rsend", 0},    {"Isend", 0},
                                {"Ibsend", 0}, {"Issend", 0}, {"Irsend", 0}, {"Sendrecv", 0}, {NULL, 0}};

typedef enum { acts_not, makes, ends, ends_list, sends, begins } Act;
typedef struct {
    void* next;
    int is_fortran;
    Act act;
    int kind, argument;
    uint64_t calls;
} Function;

typedef struct {
    int function;
    int outermost;
    void* back;
    uint64_t begin;
    void* handles;    // those that the call may end or make
    int count, open;  // how many they are, and how many of them are not null
} Frame;

static Function g_functions[k_functions];
static uint64_t g_made[k_kinds], g_ended[k_kinds], g_sent, g_inside;
static int g_rank = -1;
static __thread Frame t_frames[k_depth];
static __thread int t_depth;

static uint64_t now(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (uint64_t)at.tv_sec * 1000000000u + (uint64_t)at.tv_nsec;
}

static Row const* row_of(Row const* rows, char const* name, int is_fortran) {
    for (; rows->name != NULL; ++rows)
        if (is_fortran ? strcasecmp(rows->name, name) == 0 : strcmp(rows->name, name) == 0) return rows;
    return NULL;
}

static void classify(Function* function, char const* full) {
    char name[64];
    function->is_fortran = full[0] == 'm';
    snprintf(name, sizeof name, "%s", full + 4);
    if (function->is_fortran) name[strlen(name) - 1] = 0;  // the _ at its end
    if (strcasecmp(name, "Init") == 0 || strcasecmp(name, "Init_thread") == 0) function->act = begins;
    if (row_of(k_senders, name, function->is_fortran) != NULL) function->act = sends;
    for (int kind = 0; kind < k_kinds; ++kind) {
        Row const* row = row_of(k_kind[kind].makers, name, function->is_fortran);
        Row const* const ender = row_of(k_kind[kind].enders, name, function->is_fortran);
        Row const* const list = kind == 0 ? row_of(k_request_list_enders, name, function->is_fortran) : NULL;
        if (row == NULL && ender == NULL && list == NULL) continue;
        int const also_sends = function->act == sends;
        function->act = row != NULL ? makes : ender != NULL ? ends : ends_list;
        function->kind = kind;
        function->argument = (row != NULL ? row : ender != NULL ? ender : list)->argument;
        if (also_sends) function->argument |= 64;
    }
}

static int is_null(Function const* function, char const* at) {
    int which = 0;
    memcpy(&which, at, sizeof which);
#define IS_NULL(Handle, null) \
    (function->is_fortran ? which == (int)Handle##_c2f(null) : memcmp(at, &(Handle){null}, sizeof(Handle)) == 0)
    switch (function->kind) {
        case 0:
            return IS_NULL(MPI_Request, MPI_REQUEST_NULL);
        case 1:
            return IS_NULL(MPI_Comm, MPI_COMM_NULL);
        case 2:
            return IS_NULL(MPI_Win, MPI_WIN_NULL);
        case 3:
            return IS_NULL(MPI_Op, MPI_OP_NULL);
        default:
            return IS_NULL(MPI_File, MPI_FILE_NULL);
    }
}

static int open_of(Function const* function, Frame const* frame) {
    size_t const each = function->is_fortran  ? sizeof(MPI_Fint)
                        : function->kind == 0 ? sizeof(MPI_Request)
                        : function->kind == 1 ? sizeof(MPI_Comm)
                        : function->kind == 2 ? sizeof(MPI_Win)
                        : function->kind == 3 ? sizeof(MPI_Op)
                                              : sizeof(MPI_File);
    int open = 0;
    for (int i = 0; i < frame->count; ++i)
        open += !is_null(function, (char const*)frame->handles + (size_t)i * each);
    return open;
}

// Arguments are in registers and behind the return address, in the order of the stub's pushes.
static uint64_t argument(uint64_t const* stack, int i) {
    return i < 6 ? stack[5 - i] : stack[8 + i - 6];
}

static int number(Function const* function, uint64_t value) {
    return function->is_fortran ? *(MPI_Fint const*)value : (int)value;
}

static void add_sent(Function const* function, uint64_t const* stack) {
    if (number(function, argument(stack, 3)) == MPI_PROC_NULL) return;
    MPI_Datatype const type = function->is_fortran ? MPI_Type_f2c(*(MPI_Fint const*)argument(stack, 2))
                                                   : (MPI_Datatype)(uintptr_t)argument(stack, 2);
    int size = 0;
    if (PMPI_Type_size(type, &size) == MPI_SUCCESS)
        g_sent += (uint64_t)number(function, argument(stack, 1)) * (uint64_t)size;
}

void* checked_enter_call(uint64_t* stack) __attribute__((used));
void* checked_leave_call(void) __attribute__((used));
void checked_leave(void);

void* checked_enter_call(uint64_t* stack) {
    int const which = (int)stack[6];
    Function* const function = &g_functions[which];
    if (function->next == NULL) {
        function->next = dlsym(RTLD_NEXT, k_names[which]);
        classify(function, k_names[which]);
        if (function->next == NULL) abort();
    }
    if (t_depth == k_depth) return function->next;
    Frame* const frame = &t_frames[t_depth++];
    *frame = (Frame){which, t_depth == 1, (void*)stack[7], 0, NULL, 0, 0};
    stack[7] = (uint64_t)(uintptr_t)&checked_leave;
    if (!frame->outermost) return function->next;
    __atomic_add_fetch(&function->calls, 1, __ATOMIC_RELAXED);
    int const at = function->argument & 63;
    if (function->act == sends || (function->act == makes && function->argument & 64)) add_sent(function, stack);
    if (function->act == makes || function->act == ends) {
        frame->handles = (void*)(uintptr_t)argument(stack, at);
        frame->count = 1;
    } else if (function->act == ends_list) {
        frame->handles = (void*)(uintptr_t)argument(stack, at + 1);
        frame->count = number(function, argument(stack, at));
    }
    if (function->act == ends || function->act == ends_list) frame->open = open_of(function, frame);
    frame->begin = now();
    return function->next;
}

void* checked_leave_call(void) {
    Frame* const frame = &t_frames[--t_depth];
    if (!frame->outermost) return frame->back;
    Function* const function = &g_functions[frame->function];
    __atomic_add_fetch(&g_inside, now() - frame->begin, __ATOMIC_RELAXED);
    if (function->act == begins) PMPI_Comm_rank(MPI_COMM_WORLD, &g_rank);
    if (function->act == makes) g_made[function->kind] += (uint64_t)open_of(function, frame);
    if (function->act == ends || function->act == ends_list)
        g_ended[function->kind] += (uint64_t)(frame->open - open_of(function, frame));
    return frame->back;
}

__asm__(
    ".text\n"
    "checked_enter:\n"
    "  pushq %rdi\n  pushq %rsi\n  pushq %rdx\n  pushq %rcx\n  pushq %r8\n  pushq %r9\n"
    "  movq %rsp, %rdi\n"
    "  call checked_enter_call\n"
    "  movq %rax, %r11\n"
    "  popq %r9\n  popq %r8\n  popq %rcx\n  popq %rdx\n  popq %rsi\n  popq %rdi\n"
    "  addq $8, %rsp\n"
    "  jmp *%r11\n"
    ".globl checked_leave\n"
    ".hidden checked_leave\n"
    "checked_leave:\n"
    "  subq $8, %rsp\n  pushq %rax\n  pushq %rdx\n  subq $8, %rsp\n"
    "  call checked_leave_call\n"
    "  movq %rax, 24(%rsp)\n"
    "  addq $8, %rsp\n  popq %rdx\n  popq %rax\n"
    "  ret\n");

static FILE* opened(char const* ending) {
    char const* const folder = getenv("CHECKED_FOLDER");
    char name[4096];
    if (folder == NULL) return NULL;
    snprintf(name, sizeof name, "%s/%d.%s", folder, (int)getpid(), ending);
    return fopen(name, "w");
}

static unsigned long peak_kib(void) {
    FILE* const status = fopen("/proc/self/status", "r");
    char line[256];
    unsigned long kib = 0;
    while (status != NULL && fgets(line, sizeof line, status) != NULL)
        if (sscanf(line, "VmHWM: %lu", &kib) == 1) break;
    if (status != NULL) fclose(status);
    return kib;
}

__attribute__((constructor)) static void begin(void) {
    FILE* const here = opened("here");
    if (here != NULL) fclose(here);
}

__attribute__((destructor)) static void end(void) {
    FILE* const file = g_rank >= 0 ? opened("json") : NULL;
    if (file == NULL) return;
    fprintf(file, "{\"rank\": %d, \"peak_kib\": %lu, \"inside_ns\": %llu, \"sent\": %llu, \"calls\": {", g_rank,
            peak_kib(), (unsigned long long)g_inside, (unsigned long long)g_sent);
    char const* comma = "";
    for (int i = 0; i < k_functions; ++i) {
        if (g_functions[i].calls == 0) continue;
        fprintf(file, "%s\"%s\": %llu", comma, k_names[i], (unsigned long long)g_functions[i].calls);
        comma = ", ";
    }
    fprintf(file, "}, \"objects\": {");
    for (int kind = 0; kind < k_kinds; ++kind)
        fprintf(file, "%s\"%s\": [%llu, %lld]", kind == 0 ? "" : ", ", k_kind[kind].kind,
                (unsigned long long)g_made[kind], (long long)(g_made[kind] - g_ended[kind]));
    fprintf(file, "}}\n");
    fclose(file);
}
