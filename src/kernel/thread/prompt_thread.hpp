// SPDX-License-Identifier: BSD-3-Clause
/// A thread that has little to do, but soon.
#pragma once

namespace sluice::kernel {

/// The calling thread runs soon after it is woken, also where others compute on all processors: it takes its time in
/// the shortest slices that the scheduler knows, for which a thread with a longer one makes way (Linux 6.12 and later).
/// Kernels before 6.6 prefer threads that have slept; those between have no such means, and it may wait for a slice of
/// another thread. Its timers are exact to a microsecond instead of 50. Its share of the processors and its niceness
/// stay as they are. A thread with a policy of its own, and one whom the kernel refuses, keep what they have.
void be_prompt() noexcept;

}  // namespace sluice::kernel
