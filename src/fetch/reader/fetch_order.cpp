// SPDX-License-Identifier: BSD-3-Clause
/// Phase 2: decides which of the waiting sets gets the next tokens.
#include <algorithm>

#include "fetch/reader/fetching.hpp"

namespace sluice::fetch {

namespace {

// The number of sets that a policy chooses among, and how often it may pass one over.
constexpr std::size_t k_looked_at = 32;
constexpr std::uint32_t k_most_passed_over = 64;

}  // namespace

std::uint64_t Fetching::cost_of(FetchSet const& set) const {
    std::uint64_t cost = 0;
    for (FetchRequest const& want : set.wants) {
        if (order_ == FetchOrder::spread) {
            auto const asked = asked_of_.find(want.key.owner);
            if (asked != asked_of_.end()) cost = std::max<std::uint64_t>(cost, asked->second);
        } else if (auto const here = here_.find(want.key); here == here_.end() || here->second.buffer.expired()) {
            cost += want.bytes.count;
        }
    }
    return cost;
}

/// Applies the policy, but a set that was passed over too often comes next.
std::size_t Fetching::next_set() {
    if (order_ == FetchOrder::posted || queue_.front()->passed_over >= k_most_passed_over) return 0;
    std::size_t best = 0;
    std::uint64_t least = cost_of(*queue_.front());
    for (std::size_t i = 1; i < std::min(queue_.size(), k_looked_at) && least > 0; ++i) {
        std::uint64_t const cost = cost_of(*queue_[i]);
        if (cost >= least) continue;
        least = cost;
        best = i;
    }
    return best;
}

}  // namespace sluice::fetch
