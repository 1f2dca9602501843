// SPDX-License-Identifier: BSD-3-Clause
/// How many messages an all-to-all keeps under way on this rank, in each direction, and the lease for them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "collectives/alltoall/algorithm.hpp"

namespace sluice::collectives {

/// The tokens are leased while the exchange lasts; if the budget is short, there are fewer, and one always.
///
///     window | token | token | …      a token is what the MPI may hold of a message to a rank and of one from a rank
class Tokens {
  public:
    static constexpr std::uint64_t k_most = 32;
    /// So little is not worth a lease.
    static constexpr std::uint64_t k_without_lease = 4096;

    /// `largest`: bytes of the largest block of this rank.
    Tokens(Problem const& problem, std::uint64_t largest)
        : count_(std::clamp<std::uint64_t>(static_cast<std::uint64_t>(problem.size) - 1, 1, k_most)) {
        std::uint64_t const each = 2 * std::clamp<std::uint64_t>(largest, 1, k_held_of_message);
        count_ = std::clamp<std::uint64_t>(problem.window.count / each, 1, count_);
        if (count_ * each <= k_without_lease) return;
        for (; count_ > 1; count_ /= 2) {
            lease_ = problem.budget->try_lease(Bytes{count_ * each}, Purpose::staging);
            if (lease_) return;
        }
        lease_ = problem.budget->lease_beyond(Bytes{each}, Purpose::staging);
    }

    std::size_t count() const noexcept { return count_; }

  private:
    std::size_t count_;
    std::optional<Lease> lease_;
};

}  // namespace sluice::collectives
