// SPDX-License-Identifier: BSD-3-Clause
/// How another process ends, seen by one that is not its parent.
///
///     lives ──> ends: its memory is freed ──> zombie: pidfd is readable ──> its parent has asked
///               └─────────── /proc tells the status ────────────────────────┘     the pidfd tells it (Linux 6.15)
#pragma once

#include <optional>

#include "kernel/files/descriptor.hpp"
#include "kernel/process_mark.hpp"

namespace sluice::kernel {

class EndOfProcess {
  public:
    EndOfProcess() = default;
    /// Holds one descriptor, of the table of the calling thread. Not open if the process cannot be watched: its number
    /// means nothing here (Life::elsewhere), it does not exist any more, or the kernel offers no pidfd.
    explicit EndOfProcess(ProcessMark const& process) noexcept;

    bool is_open() const noexcept { return pidfd_.is_open(); }
    bool has_ended() const noexcept;
    /// What waitpid() will tell the parent, as soon as it is known: an end other than by exit code 0 is seen before the
    /// process has ended, while the kernel frees its memory. Nothing of a process that lives, and if the kernel does
    /// not tell: the parent has asked already and Linux is older than 6.15, or the process is of another user. Does not
    /// allocate.
    std::optional<int> status() const noexcept;
    /// Closes nothing: the table of the descriptor is gone, or is not that of the calling thread.
    void abandon() noexcept { pidfd_.release(); }

  private:
    std::optional<int> status_in_proc() const noexcept;
    std::optional<int> status_by_pidfd() const noexcept;

    ProcessMark process_;
    Descriptor pidfd_;
};

}  // namespace sluice::kernel
