// SPDX-License-Identifier: BSD-3-Clause
/// The states of the threads of this process, as the kernel shows them. Allocates nothing.
#pragma once

namespace sluice::tests {

/// Returns true if a thread of the process other than the calling one runs, or waits for a processor or a disk.
bool another_thread_waits();

}  // namespace sluice::tests
