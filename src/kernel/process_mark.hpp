// SPDX-License-Identifier: BSD-3-Clause
/// Which process: so that a later one can ask whether it still lives, and takes no other for it.
#pragma once

#include <cstdint>

namespace sluice::kernel {

/// A process number means something only inside one running system and one space of process numbers (container).
struct ProcessMark {
    std::uint64_t machine = 0;  ///< of these two, drawn anew at each start of the system: no name and no address; 0:
                                ///< not known
    std::uint64_t started = 0;  ///< clock ticks since the system's start
    std::uint32_t number = 0;   ///< 0: nobody
    std::uint32_t spare = 0;

    bool operator==(ProcessMark const&) const = default;
};

/// Of the caller. All zero where /proc does not tell.
ProcessMark this_process() noexcept;

enum class Life {
    alive,
    gone,      ///< it has ended; also when only its exit code is left to be asked for
    elsewhere  ///< on another machine or in another container, or before this system's start: it cannot be asked
};

Life life_of(ProcessMark const& process) noexcept;

}  // namespace sluice::kernel
