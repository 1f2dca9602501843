// SPDX-License-Identifier: BSD-3-Clause
#include "fetch/reader/fetch_queue.hpp"

#include <algorithm>
#include <utility>

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
std::size_t FetchQueue::next() const {
    if (order_ == FetchOrder::posted || sets_.front()->passed_over >= k_most_passed_over) return 0;
    std::size_t best = 0;
    std::uint64_t least = cost_of(*sets_.front());
    for (std::size_t i = 1; i < std::min(sets_.size(), k_looked_at) && least > 0; ++i) {
        std::uint64_t const cost = cost_of(*sets_[i]);
        if (cost >= least) continue;
        least = cost;
        best = i;
    }
    return best;
}

std::shared_ptr<FetchSet> FetchQueue::take(std::size_t place) {
    for (std::size_t i = 0; i < place; ++i)
        ++sets_[i]->passed_over;
    std::shared_ptr<FetchSet> set = std::move(sets_[place]);
    sets_.erase(sets_.begin() + static_cast<std::ptrdiff_t>(place));
    return set;
}

}  // namespace sluice::fetch
