// SPDX-License-Identifier: BSD-3-Clause
/// Keeps the program's signals away from Sluice's threads.
#pragma once

#include <pthread.h>

#include <csignal>

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

}  // namespace sluice::kernel
