// SPDX-License-Identifier: BSD-3-Clause
// Calls that end the process without its destructors, or put another program in its place.
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdlib>

#include "pages/hooks.hpp"
#include "pages/next.hpp"

namespace sluice::pages {

namespace {

constinit Next<void(int)> next_exit("_exit");
constinit Next<void(int)> next_quick_exit("quick_exit");
constinit Next<void()> next_abort("abort");
constinit Next<int(char const*, char* const*, char* const*)> next_execve("execve");
constinit Next<int(char const*, char* const*)> next_execv("execv");
constinit Next<int(char const*, char* const*)> next_execvp("execvp");
constinit Next<int(char const*, char* const*, char* const*)> next_execvpe("execvpe");
constinit Next<int(int, char* const*, char* const*)> next_fexecve("fexecve");
constinit Next<int(int, char const*, char* const*, char* const*, int)> next_execveat("execveat");

template <class Function, class... Arguments>
int become(Next<Function>& next, Arguments... arguments) noexcept {
    before_end();
    if (auto* const function = next.get()) return function(arguments...);
    errno = ENOSYS;
    return -1;
}

/// The arguments of execl and its relatives, up to the null pointer that ends them.
std::size_t count_arguments(va_list arguments) noexcept {
    std::size_t count = 1;
    while (va_arg(arguments, char*) != nullptr)
        ++count;
    return count;
}

void collect_arguments(char const* first, va_list arguments, char** all) noexcept {
    *all = const_cast<char*>(first);
    while (*all != nullptr)
        *++all = va_arg(arguments, char*);
}

/// Waits until the kernel has ended the process.
[[noreturn]] void end(Next<void(int)>& next, int code) noexcept {
    before_end();
    next.get()(code);
    __builtin_unreachable();
}

}  // namespace

}  // namespace sluice::pages

using namespace sluice::pages;

// They allocate nothing: a child of vfork may call them.
#define SLUICE_COLLECT(first, all)                                                         \
    va_list arguments;                                                                     \
    va_start(arguments, first);                                                            \
    std::size_t const count = count_arguments(arguments);                                  \
    va_end(arguments);                                                                     \
    auto** const all = static_cast<char**>(__builtin_alloca((count + 1) * sizeof(char*))); \
    va_start(arguments, first);                                                            \
    collect_arguments(first, arguments, all)

extern "C" {

void _exit(int code) {
    end(next_exit, code);
}

void _Exit(int code) noexcept {
    end(next_exit, code);
}

void quick_exit(int code) noexcept {
    end(next_quick_exit, code);
}

void abort() noexcept {
    before_end();
    next_abort.get()();
    __builtin_unreachable();
}

int execve(char const* file, char* const arguments[], char* const environment[]) noexcept {
    return become(next_execve, file, arguments, environment);
}

int execv(char const* file, char* const arguments[]) noexcept {
    return become(next_execv, file, arguments);
}

int execvp(char const* file, char* const arguments[]) noexcept {
    return become(next_execvp, file, arguments);
}

int execvpe(char const* file, char* const arguments[], char* const environment[]) noexcept {
    return become(next_execvpe, file, arguments, environment);
}

int fexecve(int file, char* const arguments[], char* const environment[]) noexcept {
    return become(next_fexecve, file, arguments, environment);
}

int execveat(int folder, char const* file, char* const arguments[], char* const environment[], int flags) noexcept {
    return become(next_execveat, folder, file, arguments, environment, flags);
}

int execl(char const* file, char const* first, ...) noexcept {
    SLUICE_COLLECT(first, all);
    va_end(arguments);
    return become(next_execv, file, all);
}

int execlp(char const* file, char const* first, ...) noexcept {
    SLUICE_COLLECT(first, all);
    va_end(arguments);
    return become(next_execvp, file, all);
}

int execle(char const* file, char const* first, ...) noexcept {
    SLUICE_COLLECT(first, all);
    auto* const environment = va_arg(arguments, char**);
    va_end(arguments);
    return become(next_execve, file, all, environment);
}

}  // extern "C"
