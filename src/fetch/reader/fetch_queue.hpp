// SPDX-License-Identifier: BSD-3-Clause
/// The sets that wait for tokens, and the policy that says which of them gets the next ones.
///
///     posted            the set that was posted first
///     nearly_complete   the set with the fewest bytes that are neither in memory nor on their way
///     spread            the set whose busiest owner has the fewest fetches of this rank in flight
#pragma once

#include <cstddef>
#include <cstdint>

#include "fetch/reader/fetch_set.hpp"
#include "fetch/reader/in_flight.hpp"
#include "fetch/reader/shared_data.hpp"
#include "sluice/settings.hpp"

namespace sluice::fetch {

class FetchQueue {
  public:
    FetchQueue(FetchOrder order, InFlight const& in_flight, SharedData const& shared)
        : order_(order), in_flight_(&in_flight), shared_(&shared) {}

    /// Takes the set out of `from`.
    void add(FetchSets& from, FetchSet const& set) noexcept { sets_.splice(sets_.end(), from, set.place); }
    bool is_empty() const noexcept { return sets_.empty(); }
    FetchSets const& all() const noexcept { return sets_; }
    /// Returns the set that is next. The policy passes over a set a limited number of times. The queue is not empty.
    FetchSet& next() const;
    FetchSet& front() const noexcept { return *sets_.front(); }
    /// Moves the set, which passes over those before it, to the end of `to`.
    void give(FetchSet& set, FetchSets& to) noexcept;

  private:
    std::uint64_t cost_of(FetchSet const& set) const;

    FetchOrder order_;
    InFlight const* in_flight_;
    SharedData const* shared_;
    FetchSets sets_;  // in the order of posting
};

}  // namespace sluice::fetch
