#include "support/watchdog.hpp"

#include <execinfo.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace sluice::tests {

namespace {

// A signal handler sees nothing else than globals.
std::array<char, 512> message{};
int message_length = 0;
int my_rank = 0;
int number_of_ranks = 1;
int limit_in_seconds = 0;

// Runs on the main thread, wherever that hangs. Waits a little before it ends the program, for the launcher kills all
// ranks when the first one goes, and the others want to speak too.
void tell_and_quit(int) {
    if (write(STDERR_FILENO, message.data(), static_cast<std::size_t>(message_length)) < 0) _exit(124);
    std::array<void*, 64> calls{};
    backtrace_symbols_fd(calls.data(), backtrace(calls.data(), static_cast<int>(calls.size())), STDERR_FILENO);
    sleep(2);
    _exit(124);
}

}  // namespace

void watchdog_sees(std::string const& activity) {
    int const length =
        std::snprintf(message.data(), message.size(), "watchdog: rank %d of %d is after %d s still in %s\n", my_rank,
                      number_of_ranks, limit_in_seconds, activity.c_str());
    message_length = std::clamp(length, 0, static_cast<int>(message.size()) - 1);
}

void start_watchdog(int rank, int ranks) {
    char const* const text = std::getenv("SLUICE_TEST_SECONDS");
    if (text == nullptr) return;
    my_rank = rank;
    number_of_ranks = ranks;
    limit_in_seconds = std::max(1, std::atoi(text));
    watchdog_sees("the start");

    std::array<void*, 1> first{};
    backtrace(first.data(), 1);  // loads the unwinder now: a handler must not
    struct sigaction action {};
    action.sa_handler = tell_and_quit;
    sigaction(SIGALRM, &action, nullptr);

    struct sigevent event {};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = SIGALRM;
    event._sigev_un._tid = static_cast<int>(syscall(SYS_gettid));
    timer_t timer{};
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) return;
    itimerspec when{};
    when.it_value.tv_sec = limit_in_seconds;
    timer_settime(timer, 0, &when, nullptr);
}

}  // namespace sluice::tests
