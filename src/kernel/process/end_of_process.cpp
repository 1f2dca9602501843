// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/process/end_of_process.hpp"

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>

#include "kernel/machine.hpp"
#include "kernel/process_stat.hpp"

namespace sluice::kernel {

namespace {

/// As linux/pidfd.h has it since 6.15; Debian 12 has older headers. Later fields follow at the end, and the number of
/// the request tells the kernel the size.
struct PidfdInfo {
    std::uint64_t mask = 0;
    std::uint64_t control_group = 0;
    std::array<std::uint32_t, 11> numbers{};
    std::int32_t exit_code = 0;
};
static_assert(sizeof(PidfdInfo) == 64);
constexpr auto k_pidfd_get_info = _IOWR(0xff, 11, PidfdInfo);
constexpr std::uint64_t k_exit = 1U << 3;

/// The kernel shows the status of other users' processes as 0.
bool is_of_this_user(std::uint32_t process) noexcept {
    std::array<char, 32> path{};
    std::snprintf(path.data(), path.size(), "/proc/%u", process);
    struct stat owner {};
    return stat(path.data(), &owner) == 0 && owner.st_uid == geteuid();
}

}  // namespace

EndOfProcess::EndOfProcess(ProcessMark const& process) noexcept : process_(process) {
    if (process.number == 0 || process.machine == 0 || process.machine != this_machine()) return;
    pidfd_ = Descriptor(static_cast<int>(syscall(SYS_pidfd_open, static_cast<pid_t>(process.number), 0)));
    if (!pidfd_.is_open()) return;
    // The number may be that of a later process. Whichever has it now has it since before the descriptor was made.
    auto const found = process_stat(static_cast<pid_t>(process.number));
    if (!found || found->started != process.started) pidfd_.reset();
}

bool EndOfProcess::has_ended() const noexcept {
    pollfd what{pidfd_.get(), POLLIN, 0};
    return is_open() && poll(&what, 1, 0) == 1 && (what.revents & (POLLIN | POLLHUP)) != 0;
}

std::optional<int> EndOfProcess::status() const noexcept {
    if (!is_open()) return std::nullopt;
    if (auto const told = status_in_proc()) return told;
    return status_by_pidfd();
}

/// A main thread that ends alone, as by pthread_exit, has the status 0, too.
std::optional<int> EndOfProcess::status_in_proc() const noexcept {
    auto const found = process_stat(static_cast<pid_t>(process_.number));
    if (!found || found->started != process_.started || !found->is_ending) return std::nullopt;
    bool const is_zero = found->status.value_or(0) == 0;
    return !is_zero || (has_ended() && is_of_this_user(process_.number)) ? found->status : std::nullopt;
}

std::optional<int> EndOfProcess::status_by_pidfd() const noexcept {
    PidfdInfo info;
    info.mask = k_exit;
    bool const answered = ioctl(pidfd_.get(), k_pidfd_get_info, &info) == 0;
    if (!answered || (info.mask & k_exit) == 0) return std::nullopt;
    return info.exit_code;
}

}  // namespace sluice::kernel
