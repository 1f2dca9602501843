/* SPDX-License-Identifier: BSD-3-Clause */
// Calls with one wrong argument, in a job of one rank. One line a call: its number, text, code and how often an error
// handler was called.
//
//   refusals probe         each call in a child of its own, which the plugin does not watch: how the child ends
//   refusals return LIST   the calls that the file LIST names by number, one after the other: under MPI_ERRORS_RETURN,
//   refusals count LIST    with a handler that counts,
//   refusals jump LIST     with a handler that leaves by longjmp
//   refusals fatal NUMBER  one call under MPI_ERRORS_ARE_FATAL
#include <mpi.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static int handled = 0;
static int jumps = 0;
static jmp_buf back;

static int data[4096];
static int number = 0;
static MPI_Aint place = 0;
static char const external[] = "external32";
static char const unknown[] = "of no name";
static int const ones[8] = {1, 1, 1, 1, 1, 1, 1, 1};
static int const wrong_ones[8] = {-77, -77, -77, -77, -77, -77, -77, -77};
static MPI_Datatype types[8];
static MPI_Datatype wrong_types[8];
static MPI_Datatype wrong_type;
static MPI_Comm wrong_comm;
static MPI_Info wrong_info;
static MPI_Request wrong_request;
static MPI_Comm comm;
static MPI_Comm cart;
static MPI_Comm made_comm;
static MPI_Group group;
static void* window_memory;
static MPI_Win window;
static MPI_File file;
static MPI_Aint const addresses[8] = {0};
static MPI_Status status;
static MPI_Status statuses[8];
static char path[4096];
#if MPI_VERSION >= 4
static MPI_Count const large_ones[8] = {1, 1, 1, 1, 1, 1, 1, 1};
static MPI_Count const large_wrong_ones[8] = {-77, -77, -77, -77, -77, -77, -77, -77};
#endif

static MPI_Errhandler handler = MPI_ERRORS_RETURN;
static MPI_Errhandler window_handler = MPI_ERRORS_RETURN;
static MPI_Errhandler file_handler = MPI_ERRORS_RETURN;

static MPI_Datatype* fresh_type(void) {
    static MPI_Datatype type;
    MPI_Type_contiguous(2, MPI_INT, &type);
    return &type;
}
static MPI_Comm* fresh_comm(void) {
    static MPI_Comm copy;
    MPI_Comm_dup(comm, &copy);
    return &copy;
}
static MPI_Win* fresh_win(void) {
    static MPI_Win copy;
    MPI_Win_allocate(64, 4, MPI_INFO_NULL, comm, &window_memory, &copy);
    return &copy;
}
static MPI_File* fresh_file(void) {
    static MPI_File copy;
    MPI_File_open(comm, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &copy);
    return &copy;
}
static MPI_Group* fresh_group(void) {
    static MPI_Group copy;
    MPI_Comm_group(comm, &copy);
    return &copy;
}
static MPI_Info* fresh_info(void) {
    static MPI_Info info;
    MPI_Info_create(&info);
    return &info;
}
static void sums(void* in, void* inout, int* count, MPI_Datatype* type) {
    (void)in, (void)inout, (void)count, (void)type;
}
#if MPI_VERSION >= 4
static void sums_c(void* in, void* inout, MPI_Count* count, MPI_Datatype* type) {
    (void)in, (void)inout, (void)count, (void)type;
}
#endif
static MPI_Op* fresh_op(void) {
    static MPI_Op op;
    MPI_Op_create(sums, 1, &op);
    return &op;
}
static void on_comm(MPI_Comm* of, int* code, ...) {
    (void)of;
    (void)code;
    ++handled;
    if (jumps) longjmp(back, 1);
}
static void on_win(MPI_Win* of, int* code, ...) {
    (void)of;
    (void)code;
    ++handled;
    if (jumps) longjmp(back, 1);
}
static void on_file(MPI_File* of, int* code, ...) {
    (void)of;
    (void)code;
    ++handled;
    if (jumps) longjmp(back, 1);
}
static MPI_Errhandler* fresh_errhandler(void) {
    static MPI_Errhandler made;
    MPI_Comm_create_errhandler(on_comm, &made);
    return &made;
}
/// Where a call may write a handle: of no object before it.
#define PLACES(TYPE, name, null)              \
    static TYPE* made_##name(void) {          \
        static TYPE place_of;                 \
        place_of = null;                      \
        return &place_of;                     \
    }                                         \
    static TYPE* pointer_to_no_##name(void) { \
        return made_##name();                 \
    }
PLACES(MPI_Win, win, MPI_WIN_NULL)
PLACES(MPI_File, file, MPI_FILE_NULL)
PLACES(MPI_Group, group, MPI_GROUP_NULL)
PLACES(MPI_Info, info, wrong_info)
PLACES(MPI_Errhandler, errhandler, MPI_ERRHANDLER_NULL)
PLACES(MPI_Op, op, MPI_OP_NULL)
static MPI_Datatype* pointer_to_no_type(void) {
    static MPI_Datatype type;
    type = wrong_type;
    return &type;
}
static MPI_Comm* pointer_to_no_comm(void) {
    static MPI_Comm none;
    none = wrong_comm;
    return &none;
}
static MPI_Request* no_request(void) {
    static MPI_Request request;
    request = MPI_REQUEST_NULL;
    return &request;
}
static MPI_Request* requests(void) {
    static MPI_Request list[8];
    for (int i = 0; i < 8; ++i)
        list[i] = MPI_REQUEST_NULL;
    return list;
}
static MPI_Request* wrong_requests(void) {
    static MPI_Request list[8];
    for (int i = 0; i < 8; ++i)
        list[i] = wrong_request;
    return list;
}
static MPI_Message* no_message(void) {
    static MPI_Message message;
    message = MPI_MESSAGE_NO_PROC;
    return &message;
}

struct Case {
    int (*run)(void);
    char const* text;
};
#include "refusal_cases.inc"

static void set_handlers(void) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Comm_set_errhandler(cart, handler);
    MPI_Win_set_errhandler(window, window_handler);
    MPI_File_set_errhandler(file, file_handler);
    MPI_File_set_errhandler(MPI_FILE_NULL, file_handler);
}

static void make_objects(void) {
#ifdef MPICH_VERSION
    wrong_type = (MPI_Datatype)0x0c00fff1;
    wrong_comm = (MPI_Comm)0x0400fff1;
    wrong_info = (MPI_Info)0x1c00fff1;
    wrong_request = (MPI_Request)0x2c00fff1;
#else
    wrong_type = MPI_DATATYPE_NULL;
    wrong_comm = MPI_COMM_NULL;
    wrong_info = NULL;
    wrong_request = NULL;
#endif
    for (int i = 0; i < 8; ++i) {
        types[i] = MPI_INT;
        wrong_types[i] = wrong_type;
    }
    snprintf(path, sizeof path, "%s/refusals-%ld", getenv("SCRATCH"), (long)getpid());
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Cart_create(MPI_COMM_WORLD, 1, ones, (int[]){1}, 0, &cart);
    MPI_Comm_group(comm, &group);
    MPI_Win_allocate(sizeof data, 4, MPI_INFO_NULL, comm, &window_memory, &window);
    MPI_File_open(comm, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
}

static void run(int which) {
    handled = 0;
    // volatile: it is read after longjmp
    int volatile code = -1;
    if (setjmp(back) == 0) code = cases[which].run();
    int class = -1;
    int const now = handled;
    if (code >= 0) MPI_Error_class(code, &class);
    printf("%d %s: class %d, handler %d\n", which, cases[which].text, class, now);
    fflush(stdout);
}

enum { k_cases = sizeof cases / sizeof cases[0] };
static pid_t children[k_cases];  // 0: its end is in `ends`
static int ends[k_cases];

static void start_probe(int which) {
    fflush(stdout);
    children[which] = fork();
    if (children[which] != 0) return;
    // Processor time, for both MPIs wait by spinning; the alarm is for a call that sleeps. It comes long before the
    // watchdog, which ends processes that all sleep for a minute; a call that it ends is not compared.
    struct itimerval const half_a_second = {{0, 0}, {0, 500000}};
    setitimer(ITIMER_PROF, &half_a_second, NULL);
    alarm(10);
    freopen("/dev/null", "w", stderr);
    _exit(cases[which].run() < 0);
}

/// Calls that sleep until their alarm do so side by side: the next call is begun when this one has ended or has taken a
/// quarter of a second.
static void wait_for_a_while(int which) {
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    struct timespec const moment = {0, 5000000};
    for (int looks = 0; looks < 50 && children[which] != 0; ++looks) {
        if (waitpid(children[which], &ends[which], WNOHANG) != 0)
            children[which] = 0;
        else
            sigtimedwait(&child, NULL, &moment);
    }
}

static void probe_all(void) {
    sigset_t child;
    sigset_t before;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, &before);
    for (int which = 0; which < k_cases; ++which) {
        start_probe(which);
        wait_for_a_while(which);
    }
    for (int which = 0; which < k_cases; ++which) {
        if (children[which] != 0) waitpid(children[which], &ends[which], 0);
        int const end = ends[which];
        if (!WIFEXITED(end) || WEXITSTATUS(end) != 0)
            printf("ends %d %s: %s %d\n", which, cases[which].text, WIFSIGNALED(end) ? "signal" : "exit",
                   WIFSIGNALED(end) ? WTERMSIG(end) : WEXITSTATUS(end));
        else
            printf("returns %d\n", which);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
}

int main(int argc, char** argv) {
    char const* const way = argv[1];
    MPI_Init(&argc, &argv);
    make_objects();
    if (strcmp(way, "fatal") == 0) {
        handler = window_handler = file_handler = MPI_ERRORS_ARE_FATAL;
        set_handlers();
        run(atoi(argv[2]));
    } else if (strcmp(way, "probe") == 0) {
        set_handlers();
        probe_all();
    } else {
        if (strcmp(way, "return") != 0) {
            jumps = strcmp(way, "jump") == 0;
            MPI_Comm_create_errhandler(on_comm, &handler);
            MPI_Win_create_errhandler(on_win, &window_handler);
            MPI_File_create_errhandler(on_file, &file_handler);
        }
        FILE* const list = fopen(argv[2], "r");
        set_handlers();
        for (int which = 0; list != NULL && fscanf(list, "%d", &which) == 1;)
            run(which);
    }
    printf("done\n");
    fflush(stdout);
    // Calls that MPI has accepted in part leave objects that MPI_Finalize would wait for.
    _exit(0);
}
