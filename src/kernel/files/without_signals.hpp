// SPDX-License-Identifier: BSD-3-Clause
/// What a file refuses to a thread, as an error and not as a signal that ends the process.
#pragma once

#include <sys/types.h>

#include <array>
#include <csignal>
#include <string>

namespace sluice::kernel {

/// A write to a pipe without a reader sends SIGPIPE to the thread that writes, and one that makes a file larger than
/// the process may make files (RLIMIT_FSIZE) sends SIGXFSZ; so does an allocation of its blocks. While this lives, both
/// are blocked in this thread, and the calls fail with EPIPE and EFBIG alone. Then they are taken back, unless one was
/// pending before.
class WithoutFileSignals {
  public:
    WithoutFileSignals() noexcept;
    WithoutFileSignals(WithoutFileSignals const&) = delete;
    WithoutFileSignals& operator=(WithoutFileSignals const&) = delete;
    ~WithoutFileSignals();

  private:
    sigset_t taken_back_{};
    sigset_t before_{};
};

/// Allocates the blocks of a part of a file, which is as large as that afterwards. Returns 0, or an errno: EFBIG if the
/// process may not make a file of that size.
int allocate_blocks(int file, off_t at, off_t bytes) noexcept;

/// The reason in words why a file was not written or did not grow.
std::string why_not_written(int error);

}  // namespace sluice::kernel
