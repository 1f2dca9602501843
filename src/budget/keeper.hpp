// SPDX-License-Identifier: BSD-3-Clause
/// Memory that is kept for reuse under a lease, until its budget asks for the bytes.
#pragma once

#include <memory>

#include "sluice/budget.hpp"

namespace sluice::budget {

class Keeper {
  public:
    virtual ~Keeper() = default;
    /// Frees what is kept and ends its lease; what is in use stays. Any thread may call it. It waits for no lock that is
    /// held while the budget is used.
    virtual void give_back() noexcept = 0;
};

/// From now on the budget asks `keeper`, while it lives: when a request does not fit, when the limit falls below what is
/// held, and at a look of this process after other processes have waited for memory. The library's own threads of a
/// process that is computing look at nothing, so then the bytes go back at its next call.
void add_keeper(Budget const& budget, std::weak_ptr<Keeper> keeper);

}  // namespace sluice::budget
