// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/files/descriptor.hpp"

#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>

namespace sluice::kernel {

namespace {

// The kernel's table of a process is as long as its highest number, and fork() copies it.
constexpr rlim_t k_highest_to_keep_from = 512;

/// Keeps the errno of what failed.
Descriptor moved(Descriptor from, int least) noexcept {
    Descriptor to(fcntl(from.get(), F_DUPFD_CLOEXEC, least));
    int const error = errno;
    from.reset();
    errno = error;
    return to;
}

thread_local bool t_has_left = false;

}  // namespace

Descriptor above_standard(int number) noexcept {
    Descriptor opened(number);
    if (!opened.is_open() || number > STDERR_FILENO) return opened;
    return moved(std::move(opened), STDERR_FILENO + 1);
}

Descriptor out_of_the_way(int number) noexcept {
    Descriptor opened(number);
    if (!opened.is_open()) return opened;
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur < rlim_t{k_least_limit_to_keep}) {
        opened.reset();
        errno = EMFILE;
        return opened;
    }
    return moved(std::move(opened), static_cast<int>(std::min(limit.rlim_cur / 2, k_highest_to_keep_from)));
}

int leave_table_of_process() noexcept {
    if (syscall(SYS_close_range, 0U, ~0U, CLOSE_RANGE_UNSHARE) != 0) return errno;
    t_has_left = true;
    return 0;
}

bool has_left_table_of_process() noexcept {
    return t_has_left;
}

}  // namespace sluice::kernel
