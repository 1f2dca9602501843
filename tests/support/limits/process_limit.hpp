// SPDX-License-Identifier: BSD-3-Clause
/// While it lives, this process has less of something.
#pragma once

#include <gtest/gtest.h>
#include <sys/resource.h>

namespace sluice::tests {

/// Lowers the soft limit of `resource`, such as RLIMIT_NOFILE.
template <__rlimit_resource resource>
class ProcessLimit {
  public:
    explicit ProcessLimit(rlim_t most) {
        EXPECT_EQ(getrlimit(resource, &before_), 0);
        rlimit const less{most, before_.rlim_max};
        EXPECT_EQ(setrlimit(resource, &less), 0);
    }
    ProcessLimit(ProcessLimit const&) = delete;
    ProcessLimit& operator=(ProcessLimit const&) = delete;
    ~ProcessLimit() { setrlimit(resource, &before_); }

  private:
    rlimit before_{};
};

/// A file that this process makes larger than that many bytes ends it by SIGXFSZ.
using FileSizeLimit = ProcessLimit<RLIMIT_FSIZE>;

}  // namespace sluice::tests
