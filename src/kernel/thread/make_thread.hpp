// SPDX-License-Identifier: BSD-3-Clause
/// How threads of Sluice are made: they keep away from the program's signals.
#pragma once

#include <pthread.h>

#include <csignal>
#include <cstddef>
#include <cstdint>

namespace sluice::kernel {

/// While this object lives, new threads inherit a mask that blocks all signals.
class SignalsBlocked {
  public:
    SignalsBlocked() noexcept {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    SignalsBlocked(SignalsBlocked const&) = delete;
    SignalsBlocked& operator=(SignalsBlocked const&) = delete;

  private:
    sigset_t before_{};
};

/// A thread of Sluice: its stack holds `stack_bytes` in addition to the thread-local variables of the program and its
/// libraries, which stand on it, too, and no signal of the program is handled on it. Throws Error(unsupported).
pthread_t make_thread(std::size_t stack_bytes, void* (*begin)(void*), void* argument);
/// Waits for the end of one.
void join_thread(pthread_t thread) noexcept;
/// Those that were made and not joined.
std::uint64_t threads_of_sluice() noexcept;

}  // namespace sluice::kernel
