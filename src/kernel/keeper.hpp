// SPDX-License-Identifier: BSD-3-Clause
/// Memory that is kept for reuse under a lease, until its budget asks for the bytes.
#pragma once

namespace sluice::kernel {

/// budget::add_keeper() makes it known to a budget, which asks it while it lives: when a request does not fit, when the
/// limit falls below what is held, and at a look of this process after other processes have waited for memory. While
/// the process computes it takes no look, so then the bytes go back at its next call.
class Keeper {
  public:
    virtual ~Keeper() = default;
    /// Frees what is kept and ends its lease; what is in use stays. Any thread may call it. It waits for no lock that
    /// is held while the budget is used.
    virtual void give_back() noexcept = 0;
};

}  // namespace sluice::kernel
