// SPDX-License-Identifier: BSD-3-Clause
/// A thread that has little to do, but soon.
#pragma once

namespace sluice::kernel {

/// The calling thread runs soon after it is woken, also where others compute on all processors: it takes its time in
/// the shortest slices that the scheduler knows, for which a thread with a longer one makes way (Linux 6.12 and later;
/// earlier ones prefer threads that have slept). Its timers are exact to a microsecond instead of 50. Its share of the
/// processors and its niceness stay as they are. Where the kernel refuses, nothing happens.
void be_prompt() noexcept;

}  // namespace sluice::kernel
