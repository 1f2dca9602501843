// SPDX-License-Identifier: BSD-3-Clause
/// When a signature comes again that is used in a loop, which pauses while the program is elsewhere. Does not allocate.
///
///     | | | | |               | | | | |               | | | | |       period within a loop, pause between loops,
///     └─┴─┴─┴─┘    pause      └─┴─┴─┴─┘    pause      └ run = 2       trip = 4 periods in each loop
///
/// If the last two loops had the same trip, the pause is predicted after as many periods. As published, there is one
/// period, and each pause is a prediction that fails.
#pragma once

#include <cstdint>

#include "memory/registration/predict/intervals.hpp"

namespace sluice::memory::registration {

class Rhythm {
  public:
    explicit(false) Rhythm(Estimate wanted = Estimate::best) noexcept
        : periods_(wanted), pauses_(wanted), knows_loops_(wanted == Estimate::best) {}

    void add(Time interval) noexcept {
        // Two periods at least tell what a period is.
        if (!knows_loops_ || periods_.count() < 2 || interval <= periods_.high()) {
            periods_.add(interval);
            ++run_;
            return;
        }
        is_steady_ = pauses_.count() > 0 && run_ == trip_;
        trip_ = run_;
        run_ = 0;
        pauses_.add(interval);
    }
    std::uint64_t count() const noexcept { return periods_.count() + pauses_.count(); }
    /// What the next interval will be like.
    Intervals const& next() const noexcept { return is_steady_ && run_ == trip_ ? pauses_ : periods_; }

  private:
    Intervals periods_;
    Intervals pauses_;
    bool knows_loops_;
    bool is_steady_ = false;
    std::uint64_t run_ = 0;   // periods since the last pause
    std::uint64_t trip_ = 0;  // periods between the last two pauses
};

}  // namespace sluice::memory::registration
