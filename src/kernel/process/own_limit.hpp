// SPDX-License-Identifier: BSD-3-Clause
/// The limits that a process has for itself: of its address space (RLIMIT_AS, ulimit -v) and of its data (RLIMIT_DATA,
/// ulimit -d). An allocation beyond them fails, and many programs end then by a signal or an exit code of their own.
#pragma once

#include <cstdint>

namespace sluice::kernel {

struct OwnLimit {
    std::uint64_t limit = 0;  ///< bytes; 0: the process has no such limit
    std::uint64_t used = 0;   ///< what the kernel counts against it now
    bool is_address_space = false;
};

/// Returns the one of the two that leaves less room. Does not allocate; reads a file only if there is a limit.
OwnLimit tightest_own_limit() noexcept;

}  // namespace sluice::kernel
