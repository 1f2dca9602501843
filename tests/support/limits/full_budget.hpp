// SPDX-License-Identifier: BSD-3-Clause
/// A budget of which nothing is left.
#pragma once

#include "engine/context_state.hpp"
#include "sluice/context.hpp"

namespace sluice::tests {

/// Leases all that this process may lease, and `more`. The process leaves the node's ledger first: other processes on
/// this machine, such as tests that run at the same time, would have nothing left.
inline Lease lease_all(Context& context, Bytes more = Bytes{}) {
    engine::ContextState::of(context).process().memory().leave_ledger();
    return context.budget().lease_beyond(context.budget().limit() + more, Purpose::other);
}

}  // namespace sluice::tests
