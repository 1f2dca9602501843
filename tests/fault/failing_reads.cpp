// SPDX-License-Identifier: BSD-3-Clause
#include "fault/failing_reads.hpp"

#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>

namespace sluice::tests {

namespace {
std::uint64_t calls_left = 0;
std::uint64_t calls_made = 0;
int error_to_give = 0;
}  // namespace

void fail_reads(std::uint64_t good, int error_number) {
    calls_left = good;
    error_to_give = error_number;
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
}  // namespace

extern "C" ssize_t process_vm_readv(pid_t pid, iovec const* local, unsigned long local_count, iovec const* remote,
                                    unsigned long remote_count, unsigned long flags) {
    if (must_fail()) return -1;
    return syscall(SYS_process_vm_readv, pid, local, local_count, remote, remote_count, flags);
}

extern "C" ssize_t process_vm_writev(pid_t pid, iovec const* local, unsigned long local_count, iovec const* remote,
                                     unsigned long remote_count, unsigned long flags) {
    if (must_fail()) return -1;
    return syscall(SYS_process_vm_writev, pid, local, local_count, remote, remote_count, flags);
}
