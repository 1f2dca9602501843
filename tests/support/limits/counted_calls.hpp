// SPDX-License-Identifier: BSD-3-Clause
/// Counts the MPI calls and the allocations of this thread, and makes allocations fail. The program's own definitions
/// precede those of the MPI and of the C++ library.
#pragma once

#include <cstdint>

namespace sluice::tests {

struct Calls {
    std::uint64_t messages = 0;       ///< sends
    std::uint64_t collectives = 0;    ///< collective calls
    std::uint64_t communicators = 0;  ///< made
    std::uint64_t allocations = 0;    ///< by operator new

    Calls operator-(Calls const& before) const noexcept {
        return {messages - before.messages, collectives - before.collectives, communicators - before.communicators,
                allocations - before.allocations};
    }
};

/// Those of this thread so far.
Calls calls_so_far() noexcept;

/// After `good` more allocations of this thread by operator new one fails.
void fail_an_allocation(std::uint64_t good) noexcept;
/// After `good` more allocations of this thread by operator new all fail, until fail_no_allocation().
void fail_all_allocations(std::uint64_t good) noexcept;
/// None fails. Returns true if an allocation has failed.
bool fail_no_allocation() noexcept;

/// While this lives, allocations are neither counted nor made to fail: they are the test's own.
class OwnAllocations {
  public:
    OwnAllocations() noexcept;
    ~OwnAllocations();
    OwnAllocations(OwnAllocations const&) = delete;
    OwnAllocations& operator=(OwnAllocations const&) = delete;
};

}  // namespace sluice::tests
