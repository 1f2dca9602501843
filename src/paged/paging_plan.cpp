// SPDX-License-Identifier: BSD-3-Clause
#include "paged/paging_plan.hpp"

#include <algorithm>
#include <utility>

namespace sluice::paged {

void PagingPlan::set(std::vector<BlockUse> order, bool again) {
    order_ = std::move(order);
    again_ = again && !order_.empty();
    done_.assign(order_.size(), false);
    first_ = 0;
    passed_over_ = 0;
    // Sorts the places by block (counting sort).
    std::ranges::fill(first_place_, 0);
    for (BlockUse const& use : order_)
        ++first_place_[use.block];
    std::size_t sum = 0;
    for (std::size_t& place : first_place_)
        place = std::exchange(sum, sum + place);
    places_.resize(order_.size());
    std::vector<std::size_t> next(first_place_);
    for (std::size_t i = 0; i < order_.size(); ++i)
        places_[next[order_[i].block]++] = i;
}

/// Returns the number of entries before this one is reached; k_never if it is not reached again.
std::uint64_t PagingPlan::distance(std::size_t place) const {
    if (place < first_ && !again_) return k_never;
    std::uint64_t const ahead = place >= first_ ? place - first_ : order_.size() - first_ + place;
    if (!done_[place]) return ahead;
    return again_ ? ahead + order_.size() : k_never;
}

std::uint64_t PagingPlan::next_need(std::size_t block) const {
    std::uint64_t nearest = k_never;
    bool needed = false;
    for (std::size_t i = first_place_[block]; i < first_place_[block + 1]; ++i) {
        std::uint64_t const ahead = distance(places_[i]);
        if (ahead >= nearest) continue;
        nearest = ahead;
        needed = order_[places_[i]].access != BlockAccess::write;  // a write replaces what is in the block now
    }
    return needed ? nearest : k_never;
}

bool PagingPlan::used(std::size_t block) {
    std::uint64_t nearest = k_never;
    std::size_t place = 0;
    for (std::size_t i = first_place_[block]; i < first_place_[block + 1]; ++i) {
        std::uint64_t const ahead = distance(places_[i]);
        if (done_[places_[i]] || ahead >= nearest) continue;
        nearest = ahead;
        place = places_[i];
    }
    bool const planned = nearest != k_never;
    if (planned) done_[place] = true;
    // A block that was used early in this round is not needed before the next one.
    bool const passes = planned ? place != first_ : again_ && first_place_[block] < first_place_[block + 1];
    if (passes && ++passed_over_ > k_patience) done_[first_] = true;
    go_on();
    return planned;
}

/// Moves to the first entry that is not done. An entry that is passed belongs to the next round.
void PagingPlan::go_on() {
    while (first_ < order_.size() && done_[first_]) {
        passed_over_ = 0;
        if (again_) done_[first_] = false;
        if (++first_ == order_.size() && again_) first_ = 0;
    }
}

}  // namespace sluice::paged
