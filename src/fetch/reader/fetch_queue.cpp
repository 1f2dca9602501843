// SPDX-License-Identifier: BSD-3-Clause
#include "fetch/reader/fetch_queue.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace sluice::fetch {

namespace {

// The number of sets that a policy chooses among, and how often it may pass one over.
constexpr std::size_t k_looked_at = 32;
constexpr std::uint32_t k_most_passed_over = 64;

}  // namespace

std::uint64_t FetchQueue::cost_of(FetchSet const& set) const {
    std::uint64_t cost = 0;
    for (FetchRequest const& want : set.wants) {
        if (order_ == FetchOrder::spread)
            cost = std::max<std::uint64_t>(cost, in_flight_->of(want.key.owner));
        else if (!shared_->contains(want.key))
            cost += want.bytes.count;
    }
    return cost;
}

/// Applies the policy, but a set that was passed over too often comes next.
FetchSet& FetchQueue::next() const {
    FetchSet* best = sets_.front().get();
    if (order_ == FetchOrder::posted || best->passed_over >= k_most_passed_over) return *best;
    std::uint64_t least = cost_of(*best);
    std::size_t looked_at = 1;
    for (auto at = std::next(sets_.begin()); at != sets_.end() && looked_at < k_looked_at && least > 0;
         ++at, ++looked_at) {
        std::uint64_t const cost = cost_of(**at);
        if (cost >= least) continue;
        least = cost;
        best = at->get();
    }
    return *best;
}

void FetchQueue::give(FetchSet& set, FetchSets& to) noexcept {
    for (auto at = sets_.begin(); at != set.place; ++at)
        ++(*at)->passed_over;
    to.splice(to.end(), sets_, set.place);
}

}  // namespace sluice::fetch
