// SPDX-License-Identifier: BSD-3-Clause
/// Threads of ours take no signals of the program.
#pragma once

#include <pthread.h>

#include <csignal>

namespace sluice::kernel {

/// While it lives: a thread that is made inherits that all are blocked.
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

}  // namespace sluice::kernel
