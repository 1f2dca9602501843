// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/process_mark.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "kernel/machine.hpp"

namespace sluice::kernel {

namespace {

struct Stat {
    char state = 0;  // 0: no such process
    std::uint64_t started = 0;
};

/// Streams are avoided because this runs in a starting program whose memory is measured.
template <std::size_t N>
bool read_text(char const* path, std::array<char, N>& text) noexcept {
    int const file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    ssize_t const got = read(file, text.data(), N - 1);
    close(file);
    text[got > 0 ? static_cast<std::size_t>(got) : 0] = '\0';
    return got > 0;
}

/// Fields are counted after the name, which may contain any character: the state is the first, the start the 20th.
Stat stat_of(char const* process) noexcept {
    std::array<char, 64> path{};
    std::snprintf(path.data(), path.size(), "/proc/%s/stat", process);
    std::array<char, 1024> text{};
    if (!read_text(path.data(), text)) return {};
    char const* at = std::strrchr(text.data(), ')');
    if (at == nullptr || at[1] != ' ') return {};
    Stat found;
    found.state = at[2];
    ++at;
    for (int field = 1; field < 20 && at != nullptr; ++field)
        at = std::strchr(at + 1, ' ');
    if (at == nullptr) return {};
    found.started = std::strtoull(at + 1, nullptr, 10);
    return found;
}

}  // namespace

ProcessMark this_process() noexcept {
    Stat const own = stat_of("self");
    std::uint64_t const machine = this_machine();
    if (own.state == 0 || machine == 0) return {};
    return {machine, own.started, static_cast<std::uint32_t>(getpid()), 0};
}

Life life_of(ProcessMark const& process) noexcept {
    if (process.number == 0 || process.machine == 0 || process.machine != this_machine()) return Life::elsewhere;
    std::array<char, 16> number{};
    std::snprintf(number.data(), number.size(), "%u", process.number);
    Stat const found = stat_of(number.data());
    bool const ended = found.state == 0 || found.state == 'Z' || found.state == 'X';
    return ended || found.started != process.started ? Life::gone : Life::alive;
}

}  // namespace sluice::kernel
