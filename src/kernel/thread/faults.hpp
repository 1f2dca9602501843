// SPDX-License-Identifier: BSD-3-Clause
/// Which thread of this process brings memory in. The kernel counts the page faults of each thread; of growth in a
/// stretch of time a thread has the part that it has of the faults.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

namespace sluice::kernel {

/// Page faults so far.
struct Faults {
    std::uint64_t of_thread = 0;
    std::uint64_t of_process = 0;

    /// The thread's part of the faults since `before`; all if there were none.
    double part_since(Faults const& before) const noexcept {
        std::uint64_t const all = of_process - before.of_process;
        std::uint64_t const own = of_thread - before.of_thread;
        return own >= all ? 1 : static_cast<double>(own) / static_cast<double>(all);
    }
};

/// Of the thread that calls.
Faults faults_of_caller() noexcept;
/// Of another one of the process.
std::optional<Faults> faults_of(pid_t thread) noexcept;

/// The threads that the process has; 0 if the kernel does not tell.
std::uint64_t count_threads() noexcept;

}  // namespace sluice::kernel
