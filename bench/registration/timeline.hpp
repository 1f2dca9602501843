// SPDX-License-Identifier: BSD-3-Clause
/// Pinned bytes over time, of one rank or of all ranks of a node together.
#pragma once

#include <cstdint>
#include <vector>

#include "memory/registration/range.hpp"

namespace sluice::bench {

class Timeline {
  public:
    using Time = memory::registration::Time;

    /// From `at` on so many bytes more (or less) are pinned. Moments may come in any order.
    void change(Time at, std::int64_t bytes) { changes_.push_back({at, bytes}); }
    /// Adds the changes of another rank.
    void join(Timeline const& other) { changes_.insert(changes_.end(), other.changes_.begin(), other.changes_.end()); }

    struct Figures {
        std::uint64_t peak = 0;
        std::uint64_t late_peak = 0;  ///< not before `from`
        double average = 0;
    };
    /// Peak over all; average from `from` to `until`.
    Figures figures(Time from, Time until) const;

  private:
    struct Change {
        Time at;
        std::int64_t bytes;
    };
    std::vector<Change> changes_;
};

}  // namespace sluice::bench
