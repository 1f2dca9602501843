// SPDX-License-Identifier: BSD-3-Clause
#include "pages/hooks.hpp"

#include <sys/types.h>
#include <unistd.h>

#include <cerrno>

namespace sluice::pages {

constinit Hooks hooks;

namespace {

/// The process that has set the hook. A child of vfork has its memory, too, and calls execve or _exit.
constinit std::atomic<pid_t> process{0};
constinit thread_local bool t_inside = false;

/// Runs `call` unless this thread is in a hook.
template <class Call>
void outside(Call call) noexcept {
    if (t_inside) return;
    int const error = errno;
    if (process.load(std::memory_order_relaxed) == getpid()) {
        t_inside = true;
        call();
        t_inside = false;
    }
    errno = error;
}

}  // namespace

void set_hook(BeforeChange before_change) noexcept {
    process.store(getpid(), std::memory_order_relaxed);
    hooks.before_change.store(before_change, std::memory_order_release);
}

void set_end_hook(BeforeEnd before_end) noexcept {
    process.store(getpid(), std::memory_order_relaxed);
    hooks.before_end.store(before_end, std::memory_order_release);
}

void call_before_change(void const* from, std::size_t bytes) noexcept {
    outside([=] {
        if (auto const hook = hooks.before_change.load(std::memory_order_acquire)) hook(from, bytes);
    });
}

void call_before_end() noexcept {
    outside([] {
        if (auto const hook = hooks.before_end.load(std::memory_order_acquire)) hook();
    });
}

}  // namespace sluice::pages
