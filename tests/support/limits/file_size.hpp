// SPDX-License-Identifier: BSD-3-Clause
/// While it lives, a file that this process makes larger than `bytes` ends the process by SIGXFSZ.
#pragma once

#include <gtest/gtest.h>
#include <sys/resource.h>

namespace sluice::tests {

class FileSizeLimit {
  public:
    explicit FileSizeLimit(rlim_t bytes) {
        EXPECT_EQ(getrlimit(RLIMIT_FSIZE, &before_), 0);
        rlimit const less{bytes, before_.rlim_max};
        EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &less), 0);
    }
    FileSizeLimit(FileSizeLimit const&) = delete;
    FileSizeLimit& operator=(FileSizeLimit const&) = delete;
    ~FileSizeLimit() { setrlimit(RLIMIT_FSIZE, &before_); }

  private:
    rlimit before_{};
};

}  // namespace sluice::tests
