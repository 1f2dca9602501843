// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/process_stat.hpp"

#include <array>
#include <cstdio>

#include "kernel/files/read_text.hpp"

namespace sluice::kernel {

namespace {

std::optional<ProcessStat> stat_in(char const* path) noexcept {
    std::array<char, 1024> room;
    return process_stat_in(read_text(path, room));
}

}  // namespace

std::optional<ProcessStat> process_stat(pid_t process) noexcept {
    std::array<char, 32> path{};
    std::snprintf(path.data(), path.size(), "/proc/%d/stat", process);
    return stat_in(path.data());
}

std::optional<ProcessStat> own_process_stat() noexcept {
    return stat_in("/proc/self/stat");
}

}  // namespace sluice::kernel
