// SPDX-License-Identifier: BSD-3-Clause
/// A rank that ends in an unusual way: ends WAY. Rank 1 ends so; the others wait in MPI_Recv for a message that never
/// comes.
///   MPI_Abort(…, 42) in     handler (an error handler), signal (a handler of a signal, inside MPI_Recv), op (a
///                           reduction operation), copy (an attribute copy function), finalize (an attribute delete
///                           function)
///   a fatal error of MPI    fatal (of MPI_Send)
///   MPI_Abort with          large (300, on a duplicated communicator), negative (-1)
///   by a signal             abort, assert, terminate, segv, kill, first (killed before its first call), together (all
///                           ranks call abort, with the MPI's handler of SIGABRT)
///   without MPI_Finalize    exit (3), main (returns 3), limit (exit 3, when no address is left), exit_twice (a handler
///                           of atexit calls exit(6)), _exit (4), abort_exit (a handler of SIGABRT calls _exit(7))
///   in order                child (children end by exit(5), _exit(6), _exit(7) after vfork, and abort), escapes (a
///                           handler of SIGABRT leaves abort by longjmp, on all ranks)
/// Functions that run at exit print their order.
#include <mpi.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <initializer_list>

// Also without assertions otherwise.
#undef NDEBUG
#include <cassert>

namespace {

void give_up() {
    MPI_Abort(MPI_COMM_WORLD, 42);
}
void on_error(MPI_Comm*, int*, ...) {
    give_up();
}
void on_alarm(int) {
    give_up();
}
void operation(void*, void*, int*, MPI_Datatype*) {
    give_up();
}
int copy(MPI_Comm, int, void*, void*, void*, int*) {
    give_up();
    return MPI_SUCCESS;
}
int remove(MPI_Comm, int, void*, void*) {
    give_up();
    return MPI_SUCCESS;
}

void wait_for_ever() {
    int never = 0;
    MPI_Recv(&never, 1, MPI_INT, MPI_ANY_SOURCE, 12345, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

void set_attribute(MPI_Comm_copy_attr_function* copy_it, MPI_Comm_delete_attr_function* remove_it) {
    int key = 0;
    MPI_Comm_create_keyval(copy_it, remove_it, &key, nullptr);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);
}

void send_to_no_rank() {
    int nothing = 0;
    MPI_Send(&nothing, 1, MPI_INT, 77, 0, MPI_COMM_WORLD);
}

void fail_to_send() {
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(on_error, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    send_to_no_rank();
}

void reduce() {
    MPI_Op add;
    MPI_Op_create(operation, 1, &add);
    int one = 1, sum = 0;
    MPI_Reduce(&one, &sum, 1, MPI_INT, add, 1, MPI_COMM_WORLD);
}

void duplicate() {
    MPI_Comm other;
    set_attribute(copy, MPI_COMM_NULL_DELETE_FN);
    MPI_Comm_dup(MPI_COMM_SELF, &other);
}

void abort_on_a_duplicate() {
    MPI_Comm other;
    MPI_Comm_dup(MPI_COMM_SELF, &other);
    MPI_Abort(other, 300);
}

void expect_end(pid_t child, int status_expected) {
    int status = 0;
    waitpid(child, &status, 0);
    if (status != status_expected) std::printf("the child ended with %x\n", status);
}

void have_children() {
    std::fflush(nullptr);
    pid_t child = fork();
    if (child == 0) std::exit(5);
    expect_end(child, W_EXITCODE(5, 0));
    child = fork();
    if (child == 0) _exit(6);
    expect_end(child, W_EXITCODE(6, 0));
    child = vfork();  // NOLINT(clang-analyzer-security.insecureAPI.vfork)
    if (child == 0) {
        execl("/no/such/program", "program", nullptr);
        _exit(7);
    }
    expect_end(child, W_EXITCODE(7, 0));
    std::signal(SIGABRT, SIG_DFL);
    child = fork();
    if (child == 0) std::abort();
    expect_end(child, W_EXITCODE(0, SIGABRT));
}

std::jmp_buf g_before_abort;
void leave_abort(int) {
    std::longjmp(g_before_abort, 1);
}
void exit_in_abort(int) {
    _exit(7);
}
void escape_from_abort() {
    std::signal(SIGABRT, leave_abort);
    if (setjmp(g_before_abort) == 0) std::abort();
}

void at_exit_first() {
    std::printf("first handler\n");
    std::fflush(stdout);
}
void at_exit_last() {
    std::printf("last handler\n");
    std::fflush(stdout);
}
void exit_again() {
    std::exit(6);
}

/// Until an allocation fails; nothing is touched.
void take_all_addresses() {
    void* volatile taken = nullptr;
    do
        taken = std::malloc(std::size_t{64} << 20);
    while (taken != nullptr);
    usleep(300'000);  // for a sample of this state
    std::exit(3);
}

void send_and_wait(char const* way) {
    if (std::strcmp(way, "op") == 0) reduce();
    wait_for_ever();
}

int end_by(char const* way) {
    auto const is = [way](char const* name) { return std::strcmp(way, name) == 0; };
    if (is("handler")) fail_to_send();
    if (is("signal")) {
        std::signal(SIGALRM, on_alarm);
        itimerval const soon{{0, 0}, {0, 100'000}};
        setitimer(ITIMER_REAL, &soon, nullptr);
        wait_for_ever();
    }
    if (is("fatal")) send_to_no_rank();
    if (is("op")) reduce();
    if (is("copy")) duplicate();
    if (is("large")) abort_on_a_duplicate();
    if (is("negative")) MPI_Abort(MPI_COMM_WORLD, -1);
    if (is("together")) std::abort();
    if (is("abort_exit")) {
        std::signal(SIGABRT, exit_in_abort);
        std::abort();
    }
    std::signal(SIGSEGV, SIG_DFL);  // libraries of MPI have handlers, which take long
    std::signal(SIGABRT, SIG_DFL);
    if (is("abort")) std::abort();
    if (is("assert")) assert(way == nullptr);
    if (is("terminate")) std::terminate();
    if (is("segv")) std::raise(SIGSEGV);
    if (is("kill")) std::raise(SIGKILL);
    if (is("limit")) take_all_addresses();
    if (is("exit")) std::exit(3);
    if (is("exit_twice")) {
        std::atexit(exit_again);
        std::exit(3);
    }
    if (is("_exit")) _exit(4);
    return 3;
}

/// As the launchers tell it: no call of MPI is needed.
bool is_rank_1() {
    for (char const* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK"})
        if (char const* const value = std::getenv(name)) return std::strcmp(value, "1") == 0;
    return false;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) return 2;
    char const* const way = argv[1];
    rlimit const no_core{};
    setrlimit(RLIMIT_CORE, &no_core);
    int rank = 0;
    std::atexit(at_exit_last);
    MPI_Init(&argc, &argv);
    if (std::strcmp(way, "first") == 0 && is_rank_1()) std::raise(SIGKILL);
    std::atexit(at_exit_first);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    std::printf("rank %d is there\n", rank);
    std::fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
    if (std::strcmp(way, "child") == 0)
        have_children();
    else if (std::strcmp(way, "escapes") == 0)
        escape_from_abort();
    else if (std::strcmp(way, "finalize") == 0 && rank == 1)
        set_attribute(MPI_COMM_NULL_COPY_FN, remove);
    else if (rank == 1 || std::strcmp(way, "together") == 0)
        return end_by(way);
    else if (std::strcmp(way, "finalize") != 0)
        send_and_wait(way);
    MPI_Finalize();
    return 0;
}
