// SPDX-License-Identifier: BSD-3-Clause
#include "support/main/thread_states.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace sluice::tests {

namespace {

/// Returns the letter of the thread's state in /proc/self/task/<thread>/stat, after the name in parentheses; 0 if it
/// has ended.
char state_of(char const* thread) {
    std::array<char, 64> path{};
    std::snprintf(path.data(), path.size(), "/proc/self/task/%.16s/stat", thread);
    int const file = open(path.data(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    std::array<char, 128> text{};
    ssize_t const length = read(file, text.data(), text.size() - 1);
    close(file);
    if (length <= 0) return 0;
    char const* const name_ends = std::strrchr(text.data(), ')');
    return name_ends == nullptr || std::strlen(name_ends) < 3 ? '\0' : name_ends[2];
}

}  // namespace

bool another_thread_waits() {
    int const folder = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return false;
    long const self = syscall(SYS_gettid);
    alignas(dirent64) std::array<char, 2048> entries{};
    bool waits = false;
    for (ssize_t length = 0; !waits && (length = getdents64(folder, entries.data(), entries.size())) > 0;)
        for (ssize_t at = 0; !waits && at < length;) {
            auto const* const entry = reinterpret_cast<dirent64 const*>(entries.data() + at);
            at += entry->d_reclen;
            if (entry->d_name[0] == '.' || std::atol(entry->d_name) == self) continue;
            char const state = state_of(entry->d_name);
            waits = state == 'R' || state == 'D';
        }
    close(folder);
    return waits;
}

}  // namespace sluice::tests
