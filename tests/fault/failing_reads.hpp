// SPDX-License-Identifier: BSD-3-Clause
/// Makes process_vm_readv and process_vm_writev fail, as a kernel that forbids it or a page that is gone would: this
/// program's own definition of the calls comes before the C library's.
#pragma once

#include <cstdint>

namespace sluice::tests {

/// After `good` more calls all others fail with `error_number`. 0 as `error_number`: none fails.
void fail_reads(std::uint64_t good, int error_number);
/// Calls made so far.
std::uint64_t reads_made();

}  // namespace sluice::tests
