// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/binding/standard_error.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "kernel/files/patient_write.hpp"

namespace sluice::plugin {

namespace {

/// The file that a descriptor stands for. Pipes, sockets and terminals have a device and an inode, too.
struct Identity {
    bool is_open = false;
    dev_t device = 0;
    ino_t inode = 0;
    bool operator==(Identity const&) const = default;
};

Identity identity_of_descriptor_2() noexcept {
    struct stat status {};
    if (fstat(STDERR_FILENO, &status) != 0) return {};
    return {true, status.st_dev, status.st_ino};
}

constinit Identity g_at_start;

/// Before main, because a program may close its standard error before its first MPI call.
[[gnu::constructor]] void remember_standard_error() noexcept {
    int const before = errno;
    g_at_start = identity_of_descriptor_2();
    errno = before;
}

}  // namespace

Written write_to_standard_error(std::string_view text, std::chrono::milliseconds patience) noexcept {
    Identity const now = identity_of_descriptor_2();
    if (!now.is_open || now != g_at_start) return Written::absent;
    return kernel::write_patiently(STDERR_FILENO, text, patience) ? Written::all : Written::stuck;
}

}  // namespace sluice::plugin
