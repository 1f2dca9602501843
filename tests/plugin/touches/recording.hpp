// SPDX-License-Identifier: BSD-3-Clause
/// A service of the tests that acts before every call: it writes which memory the call may touch to a descriptor that
/// the program has named (SLUICE_TEST_TOLD), one line for a call:
///
///     MPI_Send reads 0x7f… 80 writes 0x7f… 24 anything
///     unwatched MPI_Comm_rank
///     fork
///
/// It needs MPI_THREAD_SERIALIZED, and cannot be prepared on the rank SLUICE_TEST_REFUSES.
#pragma once

#include "plugin/services/service.hpp"

namespace sluice::plugin::tests {

std::unique_ptr<Service> make_recording();

}  // namespace sluice::plugin::tests
