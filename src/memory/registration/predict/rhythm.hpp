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
        if (!knows_loops_ || periods_.count() == 0 || !is_another(interval)) {
            if (knows_loops_ && periods_.count() == 1 && is_much_longer(periods_.expected(), interval))
                first_was_a_pause();
            periods_.add(interval);
            ++run_;
            return;
        }
        same_trips_ = pauses_.count() > 0 && run_ == trip_ ? same_trips_ + 1 : 0;
        trip_ = run_;
        run_ = 0;
        pauses_.add(interval);
    }
    std::uint64_t count() const noexcept { return periods_.count() + pauses_.count(); }
    /// Whether loops and pauses follow each other as expected.
    bool has_loops() const noexcept { return same_trips_ >= 2; }
    /// What the next interval will be like.
    Intervals const& next() const noexcept { return same_trips_ > 0 && run_ == trip_ ? pauses_ : periods_; }

  private:
    static bool is_much_longer(Time a, Time b) noexcept { return a > b + b / 2; }
    bool is_another(Time interval) const noexcept {
        return interval > periods_.high() && is_much_longer(interval, periods_.expected());
    }
    void first_was_a_pause() noexcept {
        pauses_.add(periods_.expected());
        periods_ = Intervals();
        run_ = 0;
    }

    Intervals periods_;
    Intervals pauses_;
    bool knows_loops_;
    std::uint64_t same_trips_ = 0;
    std::uint64_t run_ = 0;   // periods since the last pause
    std::uint64_t trip_ = 0;  // periods between the last two pauses
};

}  // namespace sluice::memory::registration
