// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/thread/faults.hpp"

#include <sys/resource.h>
#include <sys/stat.h>

#include <array>
#include <charconv>
#include <string_view>

#include "kernel/files/read_text.hpp"
#include "kernel/proc_text.hpp"

namespace sluice::kernel {

namespace {

std::uint64_t faults(int who) noexcept {
    rusage usage{};
    if (getrusage(who, &usage) != 0) return 0;
    return static_cast<std::uint64_t>(usage.ru_minflt);
}

}  // namespace

Faults faults_of_caller() noexcept {
    return {faults(RUSAGE_THREAD), faults(RUSAGE_SELF)};
}

std::optional<Faults> faults_of(pid_t thread) noexcept {
    std::array<char, 64> path{};
    constexpr std::string_view before = "/proc/self/task/";
    char* at = path.data() + before.copy(path.data(), before.size());
    at = std::to_chars(at, path.data() + 40, thread).ptr;
    std::string_view("/stat").copy(at, 5);
    std::array<char, 512> room;
    std::string_view text = read_text(path.data(), room);
    std::size_t const name_ends = text.rfind(") ");
    if (name_ends == std::string_view::npos) return std::nullopt;
    auto const own = number_of_field(text.substr(name_ends + 2), 7);
    if (!own) return std::nullopt;
    return Faults{*own, faults(RUSAGE_SELF)};
}

std::uint64_t count_threads() noexcept {
    struct stat tasks {};
    return stat("/proc/self/task", &tasks) == 0 && tasks.st_nlink > 2 ? tasks.st_nlink - 2 : 0;
}

}  // namespace sluice::kernel
