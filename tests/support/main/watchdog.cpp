// SPDX-License-Identifier: BSD-3-Clause
#include "support/main/watchdog.hpp"

#include <execinfo.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "support/main/hang_judge.hpp"
#include "support/main/thread_states.hpp"

namespace sluice::tests {

namespace {

using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr nanoseconds k_between_looks = std::chrono::milliseconds(500);
constexpr int k_code = 124;

/// What a rank tells the others; only the rank itself writes it.
struct Row {
    std::atomic<std::int64_t> processor;
    std::atomic<std::int64_t> busy;
    std::atomic<std::uint64_t> steps;
    std::atomic<std::uint64_t> looks;
    std::atomic<bool> ended;
};

struct Board {
    std::atomic<int> hang;  ///< a Hang, once a rank has seen one
    Row rows[HangJudge::k_most_ranks];
};

// A signal handler can use globals only. If the board cannot be shared, the rank has its own.
Board own_board{};
Board* board = &own_board;
int my_row = 0;
int rows = 1;
int my_rank = 0;
int number_of_ranks = 1;
HangLimits limits{};
long main_thread = 0;
std::array<char, 320> activity{"the start"};

// The simulator replaces the functions that read the time and sleep, so the system is called directly.
nanoseconds clock_of(clockid_t clock) {
    timespec time{};
    syscall(SYS_clock_gettime, clock, &time);
    return seconds(time.tv_sec) + nanoseconds(time.tv_nsec);
}

void pause_for(nanoseconds time) {
    timespec const left{time / seconds(1), (time % seconds(1)).count()};
    syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &left, nullptr);
}

// Prints what the rank is doing. The launcher kills all ranks when the first one ends, so each gives the others time to
// print.
void tell_and_quit(int) {
    auto const tenths = static_cast<long>(clock_of(CLOCK_PROCESS_CPUTIME_ID) / std::chrono::milliseconds(100));
    bool const sleeps = board->hang == static_cast<int>(Hang::sleeps);
    std::array<char, 512> message{};
    int const length = std::snprintf(
        message.data(), message.size(),
        sleeps
            ? "watchdog: rank %d of %d has used %ld.%ld s of processor time and is still in %s; all ranks slept for "
              "%ld s\n"
            : "watchdog: rank %d of %d has used %ld.%ld s of processor time and is still in %s; a rank may use %ld s\n",
        my_rank, number_of_ranks, tenths / 10, tenths % 10, activity.data(),
        static_cast<long>((sleeps ? limits.asleep : limits.processor) / seconds(1)));
    auto const most = static_cast<int>(message.size()) - 1;
    if (write(STDERR_FILENO, message.data(), static_cast<std::size_t>(std::clamp(length, 0, most))) < 0) _exit(k_code);
    std::array<void*, 64> calls{};
    backtrace_symbols_fd(calls.data(), backtrace(calls.data(), static_cast<int>(calls.size())), STDERR_FILENO);
    pause_for(seconds(2));
    _exit(k_code);
}

void write_row(nanoseconds since_last_look) {
    Row& row = board->rows[my_row];
    std::int64_t const processor = clock_of(CLOCK_PROCESS_CPUTIME_ID).count();
    std::int64_t const used = processor - row.processor;
    row.busy += another_thread_waits() ? std::max<std::int64_t>(used, since_last_look.count()) : used;
    row.processor = processor;
    ++row.looks;
}

Hang judge_rows(HangJudge& judge, nanoseconds now) {
    std::array<RankUse, HangJudge::k_most_ranks> uses;
    for (int i = 0; i < rows; ++i) {
        Row const& row = board->rows[i];
        uses[static_cast<std::size_t>(i)] = {nanoseconds(row.processor), nanoseconds(row.busy), row.steps, row.looks,
                                             row.ended};
    }
    return judge.look(now, std::span(uses).first(static_cast<std::size_t>(rows)));
}

// This thread allocates nothing, because tests count and refuse allocations.
void* watch(void*) {
    static HangJudge judge(limits);
    nanoseconds last = clock_of(CLOCK_MONOTONIC);
    while (board->hang == static_cast<int>(Hang::none)) {
        pause_for(k_between_looks);
        nanoseconds const now = clock_of(CLOCK_MONOTONIC);
        write_row(std::min<nanoseconds>(now - last, HangJudge::k_most_between_looks));
        last = now;
        if (Hang const hang = judge_rows(judge, now); hang != Hang::none) {
            int none = static_cast<int>(Hang::none);
            board->hang.compare_exchange_strong(none, static_cast<int>(hang));
        }
    }
    // The main thread prints where it hangs. If it takes no signal, as with a sanitizer that delays signals, this
    // thread prints.
    syscall(SYS_tgkill, getpid(), main_thread, SIGALRM);
    pause_for(seconds(5));
    tell_and_quit(0);
    return nullptr;
}

Board* reach(WatchdogBoard const& where) {
    std::array<char, 64> path{};
    std::snprintf(path.data(), path.size(), "/proc/%ld/fd/%ld", where.process, where.descriptor);
    std::FILE* const file = std::fopen(path.data(), "r+");
    if (file == nullptr) return nullptr;
    void* const memory = mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
    std::fclose(file);
    return memory == MAP_FAILED ? nullptr : static_cast<Board*>(memory);
}

seconds seconds_in(char const* variable, int otherwise) {
    char const* const text = std::getenv(variable);
    return seconds(text == nullptr ? otherwise : std::max(1, std::atoi(text)));
}

}  // namespace

WatchdogBoard make_watchdog_board() {
    int const descriptor = memfd_create("watchdog", MFD_CLOEXEC);
    if (descriptor < 0 || ftruncate(descriptor, sizeof(Board)) != 0) return {};
    return {getpid(), descriptor};
}

void watchdog_sees(std::string const& what) {
    std::snprintf(activity.data(), activity.size(), "%s", what.c_str());
    ++board->rows[my_row].steps;
}

void start_watchdog(int rank, int ranks, WatchdogBoard where) {
    if (std::getenv("SLUICE_TEST_SECONDS") == nullptr) return;
    limits = {seconds_in("SLUICE_TEST_SECONDS", 1), seconds_in("SLUICE_TEST_ASLEEP_SECONDS", 60)};
    my_rank = rank;
    number_of_ranks = ranks;
    if (Board* const shared = ranks <= HangJudge::k_most_ranks ? reach(where) : nullptr; shared != nullptr) {
        board = shared;
        my_row = rank;
        rows = ranks;
    }
    watchdog_sees("the start");

    std::array<void*, 1> first{};
    backtrace(first.data(), 1);  // loads the unwinder now, because a handler must not do so
    main_thread = syscall(SYS_gettid);
    struct sigaction action {};
    action.sa_handler = tell_and_quit;
    sigaction(SIGALRM, &action, nullptr);

    // Signals to the program must reach its own threads, so the watchdog's thread blocks all of them.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread{};
    if (pthread_create(&thread, nullptr, watch, nullptr) == 0) pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void stop_watchdog() {
    board->rows[my_row].ended = true;
}

}  // namespace sluice::tests
