// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/job/end/abrupt_end.hpp"

#include <sys/wait.h>

#include "pages/next.hpp"

namespace sluice::plugin {

namespace {

using AssertFail = void(char const*, char const*, unsigned, char const*);

constinit pages::Next<void()> next_abort("abort");
constinit pages::Next<AssertFail> next_assert_fail("__assert_fail");
constinit pages::Next<void(int)> next_exit("_exit");

[[noreturn]] void exit_now(int code) noexcept {
    note_abrupt_end(W_EXITCODE(code & 0xff, 0));
    next_exit.get()(code);
    __builtin_unreachable();
}

}  // namespace

}  // namespace sluice::plugin

using namespace sluice::plugin;

// NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp,readability-identifier-naming)

extern "C" {

[[gnu::visibility("default")]] void abort() noexcept {
    note_call_of_abort();
    next_abort.get()();
    __builtin_unreachable();
}

/// The C library's calls its own abort().
[[gnu::visibility("default")]] void __assert_fail(char const* assertion, char const* file, unsigned line,
                                                  char const* function) noexcept {
    note_call_of_abort();
    next_assert_fail.get()(assertion, file, line, function);
    __builtin_unreachable();
}

[[gnu::visibility("default")]] void _exit(int status) {
    exit_now(status);
}

[[gnu::visibility("default")]] void _Exit(int status) noexcept {
    exit_now(status);
}

}  // extern "C"

// NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp,readability-identifier-naming)
