// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/files/without_signals.hpp"

#include <fcntl.h>
#include <pthread.h>

#include <cerrno>
#include <ctime>
#include <system_error>

namespace sluice::kernel {

namespace {

constexpr std::array k_file_signals{SIGPIPE, SIGXFSZ};

}  // namespace

WithoutFileSignals::WithoutFileSignals() noexcept {
    sigset_t blocked;
    sigset_t pending;
    sigemptyset(&blocked);
    sigemptyset(&pending);
    sigemptyset(&taken_back_);
    sigpending(&pending);
    for (int const signal : k_file_signals) {
        sigaddset(&blocked, signal);
        if (sigismember(&pending, signal) != 1) sigaddset(&taken_back_, signal);
    }
    pthread_sigmask(SIG_BLOCK, &blocked, &before_);
}

WithoutFileSignals::~WithoutFileSignals() {
    timespec const at_once{0, 0};
    int taken = 0;
    do
        taken = sigtimedwait(&taken_back_, nullptr, &at_once);
    while (taken > 0 || (taken < 0 && errno == EINTR));
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

int allocate_blocks(int file, off_t at, off_t bytes) noexcept {
    WithoutFileSignals const quiet;
    return posix_fallocate(file, at, bytes);
}

std::string why_not_written(int error) {
    std::string const reason = std::generic_category().message(error);
    return error == EFBIG ? reason + " (RLIMIT_FSIZE)" : reason;
}

}  // namespace sluice::kernel
