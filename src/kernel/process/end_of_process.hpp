// SPDX-License-Identifier: BSD-3-Clause
/// How another process ends, seen by one that is not its parent.
///
///     lives ──> ends: its memory is freed ──> zombie: descriptor() is readable ──> its parent has asked
///               └─────────── /proc tells the status ────────────────────────┘     the pidfd tells it (Linux 6.15)
#pragma once

#include <optional>

#include "kernel/descriptor.hpp"
#include "kernel/process_mark.hpp"

namespace sluice::kernel {

class EndOfProcess {
  public:
    /// Descriptors that are left to the program: none is taken that is nearer to the limit.
    static constexpr int k_left = 64;

    EndOfProcess() = default;
    /// Holds one descriptor. Not open if the process cannot be watched: its number means nothing here
    /// (Life::elsewhere), it does not exist any more, few descriptors are left, or the kernel offers no pidfd.
    explicit EndOfProcess(ProcessMark const& process) noexcept;

    bool is_open() const noexcept { return pidfd_.is_open(); }
    /// Readable as soon as the process has ended, and for ever after.
    int descriptor() const noexcept { return pidfd_.get(); }
    bool has_ended() const noexcept;
    /// What waitpid() will tell the parent, as soon as it is known: an end other than by exit code 0 is seen before the
    /// process has ended, while the kernel frees its memory. Nothing of a process that lives, and if the kernel does
    /// not tell: the parent has asked already and Linux is older than 6.15, or the process is of another user. Does not
    /// allocate.
    std::optional<int> status() const noexcept;

  private:
    std::optional<int> status_in_proc() const noexcept;
    std::optional<int> status_by_pidfd() const noexcept;

    ProcessMark process_;
    Descriptor pidfd_;
};

}  // namespace sluice::kernel
