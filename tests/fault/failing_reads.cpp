// SPDX-License-Identifier: BSD-3-Clause
#include "fault/failing_reads.hpp"

#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>

namespace sluice::tests {

namespace {
std::uint64_t calls_left = 0;
std::atomic<std::uint64_t> calls_made = 0;
int error_to_give = 0;
std::uint64_t most_bytes = 0;
}  // namespace

void fail_reads(std::uint64_t good, int error_number) {
    calls_left = good;
    error_to_give = error_number;
}

void shorten_reads(std::uint64_t most) {
    most_bytes = most;
}

std::uint64_t reads_made() {
    return calls_made;
}

}  // namespace sluice::tests

namespace {
/// Counts a call; returns true if it has to fail.
bool must_fail() {
    using namespace sluice::tests;
    ++calls_made;
    if (error_to_give == 0) return false;
    if (calls_left == 0) {
        errno = error_to_give;
        return true;
    }
    --calls_left;
    return false;
}

/// Makes the system call, as it is or shortened.
ssize_t call(long number, pid_t pid, iovec const* local, unsigned long local_count, iovec const* remote,
             unsigned long remote_count, unsigned long flags) {
    using sluice::tests::most_bytes;
    if (most_bytes == 0 || local_count == 0 || remote_count == 0)
        return syscall(number, pid, local, local_count, remote, remote_count, flags);
    std::size_t const bytes = std::min<std::size_t>({local->iov_len, remote->iov_len, most_bytes});
    iovec const here{local->iov_base, bytes};
    iovec const there{remote->iov_base, bytes};
    return syscall(number, pid, &here, 1, &there, 1, flags);
}
}  // namespace

extern "C" ssize_t process_vm_readv(pid_t pid, iovec const* local, unsigned long local_count, iovec const* remote,
                                    unsigned long remote_count, unsigned long flags) {
    if (must_fail()) return -1;
    return call(SYS_process_vm_readv, pid, local, local_count, remote, remote_count, flags);
}

extern "C" ssize_t process_vm_writev(pid_t pid, iovec const* local, unsigned long local_count, iovec const* remote,
                                     unsigned long remote_count, unsigned long flags) {
    if (must_fail()) return -1;
    return call(SYS_process_vm_writev, pid, local, local_count, remote, remote_count, flags);
}
