// SPDX-License-Identifier: BSD-3-Clause
/// The descriptors of this process, and a limit to them.
#pragma once

#include <dirent.h>
#include <sys/resource.h>

#include <cstdlib>
#include <set>

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

/// The soft limit is `most` while it lives.
class DescriptorLimit {
  public:
    explicit DescriptorLimit(rlim_t most) {
        getrlimit(RLIMIT_NOFILE, &before_);
        rlimit const low{most, before_.rlim_max};
        setrlimit(RLIMIT_NOFILE, &low);
    }
    DescriptorLimit(DescriptorLimit const&) = delete;
    DescriptorLimit& operator=(DescriptorLimit const&) = delete;
    ~DescriptorLimit() { setrlimit(RLIMIT_NOFILE, &before_); }

  private:
    rlimit before_{};
};

}  // namespace sluice::tests
