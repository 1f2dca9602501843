// SPDX-License-Identifier: BSD-3-Clause
/// Identifies a process, so that a later one can ask whether it still lives without mistaking another for it.
#pragma once

#include <cstdint>

namespace sluice::kernel {

/// A process number means something only inside one running system and one namespace of process numbers (container).
struct ProcessMark {
    std::uint64_t machine = 0;  ///< of these two, drawn anew at each start of the system: no name and no address; 0:
                                ///< not known
    std::uint64_t started = 0;  ///< clock ticks since the system's start
    std::uint32_t number = 0;   ///< 0: no process
    std::uint32_t spare = 0;

    bool operator==(ProcessMark const&) const = default;
};

/// The mark of the caller; all zero if /proc cannot be read.
ProcessMark this_process() noexcept;

enum class Life {
    alive,
    gone,      ///< it has ended, even if its exit code has not been collected
    elsewhere  ///< on another machine, in another container, or before this system's start: its state is unknown
};

Life life_of(ProcessMark const& process) noexcept;

}  // namespace sluice::kernel
