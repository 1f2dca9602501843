// SPDX-License-Identifier: BSD-3-Clause
/// The sets that wait for tokens, and the policy that says which of them gets the next ones.
///
///     posted            the set that was posted first
///     nearly_complete   the set with the fewest bytes that are neither in memory nor on their way
///     spread            the set whose busiest owner has the fewest fetches of this rank in flight
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>

#include "fetch/reader/fetch_set.hpp"
#include "fetch/reader/in_flight.hpp"
#include "fetch/reader/shared_data.hpp"
#include "sluice/settings.hpp"

namespace sluice::fetch {

class FetchQueue {
  public:
    FetchQueue(FetchOrder order, InFlight const& in_flight, SharedData const& shared)
        : order_(order), in_flight_(&in_flight), shared_(&shared) {}

    void add(std::shared_ptr<FetchSet> const& set) { sets_.push_back(set); }
    bool is_empty() const noexcept { return sets_.empty(); }
    /// Returns the place of the set that is next. The policy passes over a set a limited number of times. The queue is
    /// not empty.
    std::size_t next() const;
    FetchSet const& operator[](std::size_t place) const noexcept { return *sets_[place]; }
    /// Removes the set, which passes over those before it.
    std::shared_ptr<FetchSet> take(std::size_t place);

  private:
    std::uint64_t cost_of(FetchSet const& set) const;

    FetchOrder order_;
    InFlight const* in_flight_;
    SharedData const* shared_;
    std::deque<std::shared_ptr<FetchSet>> sets_;  // in the order of posting
};

}  // namespace sluice::fetch
