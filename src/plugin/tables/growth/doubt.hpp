// SPDX-License-Identifier: BSD-3-Clause
/// What a place may have of a stretch of several calls, and when its calls are read to find out. The first calls of
/// every place are; so are those that follow a long call which had no reading at its begin and would have much of a
/// stretch by its share of the time.
/// Written under the lock of readings (memory_watch.hpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "plugin/binding/tally.hpp"
#include "plugin/tables/growth/held.hpp"
#include "record/evidence.hpp"
#include "record/record.hpp"

namespace sluice::plugin {

class Doubt {
  public:
    /// Whether calls of the place should have readings at both ends.
    bool is_of(record::Site const& site) const noexcept {
        return look_at(site.calls) <= record::k_enough_reads || look_at(doubtful_) == &site;
    }
    /// The most bytes that one call of the place takes, if that is known.
    static std::optional<std::uint64_t> most_in_call(record::Site const& site) noexcept {
        return record::most_taken(1, look_at(site.read_calls), look_at(site.read_bytes));
    }
    /// What a long call of the place may have of the `of_call` bytes that are its by its share of the time.
    std::uint64_t allowed(record::Site const& site, std::uint64_t of_call) noexcept {
        if (of_call >= k_growth) {
            put(doubtful_, &site);
            reads_left_ = record::k_enough_reads;
        }
        auto const most = most_taken(site);
        return most ? std::min(of_call, *most - std::min(look_at(site.estimated), *most)) : of_call;
    }
    /// A call of the place, not its first one, had readings at both ends, in which the MPI took `taken` bytes.
    void read(record::Site& site, std::uint64_t taken) noexcept {
        add(site.read_calls, 1);
        add(site.read_bytes, taken);
        if (auto const most = most_taken(site))
            untake_share(site, look_at(site.estimated) - std::min(look_at(site.estimated), *most));
        if (look_at(doubtful_) == &site && --reads_left_ == 0) put(doubtful_, nullptr);
    }

  private:
    static std::optional<std::uint64_t> most_taken(record::Site const& site) noexcept {
        return record::most_taken(look_at(site.calls), look_at(site.read_calls), look_at(site.read_bytes));
    }

    record::Site const* doubtful_ = nullptr;
    std::uint64_t reads_left_ = 0;  // of this place, until it is not in doubt any more
};

}  // namespace sluice::plugin
