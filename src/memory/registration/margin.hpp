// SPDX-License-Identifier: BSD-3-Clause
/// How much earlier than its last moment a registration begins, so that nearly all messages find it: learnt from those
/// that did not. Does not allocate.
///
///     found                  the margin shrinks by 2 % of a step
///     came a little sooner   it grows by a step: the mean of what was missing
///
/// Both balance where 2 of 100 messages come too soon, whatever the distribution is (Robbins and Monro 1951).
/// Predictions know the noise of each interval; the margin adds what they cannot know: that the helper gets its
/// processor late, and that a device is slow now and then.
#pragma once

#include <algorithm>

#include "memory/registration/range.hpp"

namespace sluice::memory::registration {

class Margin {
  public:
    static constexpr int k_part_of_period = 8;  ///< what is missing more is another pattern, which no margin helps

    void found() noexcept { now_ = std::max(now_ - step_ * 2 / 100, Time(0)); }
    /// A registration should have begun `missing` earlier; its period is `period`.
    void came_sooner(Time missing, Time period) noexcept {
        missing = std::max(missing, Time(1));
        if (missing > period / k_part_of_period) return;
        step_ = step_ == Time(0) ? missing : (3 * step_ + missing) / 4;
        now_ += step_;
    }
    Time of(Time period) const noexcept { return std::min(now_, period / k_part_of_period); }

  private:
    Time now_{};
    Time step_{};
};

}  // namespace sluice::memory::registration
