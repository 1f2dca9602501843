// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/job/identity.hpp"

#include <pwd.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <span>
#include <string_view>

#include "kernel/files/read_text.hpp"
#include "kernel/launcher.hpp"

namespace sluice::plugin {

namespace {

void copy_text(std::span<char> to, std::string_view from) noexcept {
    to[from.copy(to.data(), to.size() - 1)] = '\0';
}

/// As the login has it; a batch system may run a job without one.
void name_user(std::span<char> to) noexcept {
    for (char const* name : {"LOGNAME", "USER"})
        if (char const* const value = kernel::variable(name)) return copy_text(to, value);
    std::array<char, 4096> room;
    passwd entry{};
    passwd* found = nullptr;
    if (getpwuid_r(geteuid(), &entry, room.data(), room.size(), &found) == 0 && found != nullptr)
        copy_text(to, found->pw_name);
    else
        std::snprintf(to.data(), to.size(), "%u", static_cast<unsigned>(geteuid()));
}

/// Arguments stand in a row, each ended by a zero.
void name_command(std::span<char> to) noexcept {
    std::size_t length = kernel::read_text("/proc/self/cmdline", to.first(to.size() - 1)).size();
    while (length > 0 && to[length - 1] == '\0')
        --length;
    for (std::size_t i = 0; i < length; ++i)
        if (to[i] == '\0') to[i] = ' ';
    to[length] = '\0';
}

}  // namespace

void identify(record::RankHead& head) noexcept {
    if (gethostname(head.host.data(), head.host.size() - 1) != 0) head.host[0] = '\0';
    name_user(head.user);
    name_command(head.command);
}

}  // namespace sluice::plugin
