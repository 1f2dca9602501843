// SPDX-License-Identifier: BSD-3-Clause
/// What the threads of this process do, as the kernel shows it. Allocates nothing.
#pragma once

namespace sluice::tests {

/// True if a thread of the process other than the calling one runs, or waits for a processor or a disk.
bool another_thread_waits();

}  // namespace sluice::tests
