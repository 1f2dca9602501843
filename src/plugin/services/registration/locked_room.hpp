// SPDX-License-Identifier: BSD-3-Clause
/// How many bytes of buffers RLIMIT_MEMLOCK leaves. The kernel counts what UCX itself has pinned, too, which grows with
/// its connections: so the limit follows what is pinned and is not in the cache of buffers.
///
///     | UCX itself | buffers ......................... | reserve |   RLIMIT_MEMLOCK
#pragma once

#include <cstdint>

#include "memory/registration/cache.hpp"
#include "sluice/budget.hpp"

namespace sluice::plugin {

/// VmPin of this process: bytes that devices keep in memory.
std::uint64_t pinned_bytes() noexcept;

class LockedRoom {
  public:
    /// `setting`: the most that buffers may take in any case; 0: no such limit.
    explicit LockedRoom(Bytes setting);
    /// The budget of the cache of buffers.
    Budget const& budget() const noexcept { return budget_; }
    /// Before a buffer is registered, while none is in use. Costs microseconds if RLIMIT_MEMLOCK binds this process,
    /// else nothing.
    void follow(memory::registration::Cache const& cache) noexcept;

  private:
    Bytes room_beside(std::uint64_t others) const noexcept;

    Bytes setting_;
    std::uint64_t locked_;  // the limit of the process; the highest number if none binds it
    Budget budget_;
};

}  // namespace sluice::plugin
