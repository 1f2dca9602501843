// SPDX-License-Identifier: BSD-3-Clause
/// The descriptors of this process, and a limit to them.
#pragma once

#include <dirent.h>

#include <cstdlib>
#include <set>

#include "support/limits/process_limit.hpp"

namespace sluice::tests {

/// The numbers of the calling thread's table.
inline std::set<int> open_descriptors() {
    std::set<int> numbers;
    DIR* const listing = opendir("/proc/thread-self/fd");
    if (listing == nullptr) return numbers;
    while (dirent const* const entry = readdir(listing))
        if (entry->d_name[0] != '.') numbers.insert(std::atoi(entry->d_name));
    numbers.erase(dirfd(listing));
    closedir(listing);
    return numbers;
}

/// The soft limit is that while it lives.
using DescriptorLimit = ProcessLimit<RLIMIT_NOFILE>;

}  // namespace sluice::tests
