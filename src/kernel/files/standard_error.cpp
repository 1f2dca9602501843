// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/files/standard_error.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "kernel/files/descriptor.hpp"
#include "kernel/files/patient_write.hpp"

namespace sluice::kernel {

namespace {

/// The file that a descriptor stands for. Pipes, sockets and terminals have a device and an inode, too.
struct Identity {
    bool is_open = false;
    dev_t device = 0;
    ino_t inode = 0;
    bool operator==(Identity const&) const = default;
};

Identity identity_of(int file) noexcept {
    struct stat status {};
    if (fstat(file, &status) != 0) return {};
    return {true, status.st_dev, status.st_ino};
}

/// The process's descriptor 2 in a thread that has a table of its own, open for a moment. Not open if it is a socket.
Descriptor descriptor_2_of_process() noexcept {
    return Descriptor(open("/proc/self/fd/2", O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
}

constinit Identity g_at_start;
// Standard error stayed full: no further line waits for its reader.
constinit std::atomic<bool> g_is_stuck{false};

constinit std::atomic<bool> g_quiet{false};
constinit std::optional<bool> g_quiet_by_environment;

/// Before main, because a program may close its standard error before its first call, and may change its environment
/// while another thread has something to say.
[[gnu::constructor]] void look_before_main() noexcept {
    remember_standard_error();
    if (char const* const value = std::getenv("SLUICE_QUIET")) g_quiet_by_environment = std::strcmp(value, "on") == 0;
}

}  // namespace

void remember_standard_error() noexcept {
    int const before = errno;
    g_at_start = identity_of(STDERR_FILENO);
    errno = before;
}

void be_quiet(bool quiet) noexcept {
    g_quiet.store(quiet, std::memory_order_relaxed);
}

bool is_quiet() noexcept {
    return g_quiet_by_environment.value_or(g_quiet.load(std::memory_order_relaxed));
}

void put_on_standard_error(std::string_view text) noexcept {
    if (is_quiet()) return;
    Descriptor own;
    if (has_left_table_of_process()) own = descriptor_2_of_process();
    int const file = has_left_table_of_process() ? own.get() : STDERR_FILENO;
    Identity const now = identity_of(file);
    if (!now.is_open || now != g_at_start) return;
    bool const is_stuck = g_is_stuck.load(std::memory_order_relaxed);
    auto const patience = is_stuck ? std::chrono::milliseconds(0) : k_patience;
    if (!write_patiently(file, text, patience)) g_is_stuck.store(true, std::memory_order_relaxed);
}

}  // namespace sluice::kernel
