// SPDX-License-Identifier: BSD-3-Clause
/// Makes process_vm_readv and process_vm_writev fail, as they do if the kernel forbids them or a page is gone. The
/// program's own definition of the calls precedes that of the C library.
#pragma once

#include <cstdint>

namespace sluice::tests {

/// After `good` more calls all others fail with `error_number`; if it is 0, none fails.
void fail_reads(std::uint64_t good, int error_number);
/// Each call moves at most that many bytes, of the first piece of both lists; 0: as the kernel does.
void shorten_reads(std::uint64_t most);
/// Returns the number of calls so far.
std::uint64_t reads_made();

}  // namespace sluice::tests
