// SPDX-License-Identifier: BSD-3-Clause
/// How long a rank has waited. Only time in which it looks counts, so a rank that computes does not wait.
#pragma once

#include <algorithm>

namespace sluice::engine {

class WaitClock {
  public:
    /// Each look calls it. Returns the seconds so far.
    double look(double now) noexcept {
        waited_ += last_ > 0 ? std::min(now - last_, k_most_between_looks) : 0;
        last_ = now;
        return waited_;
    }
    double waited() const noexcept { return waited_; }

  private:
    // At most so many seconds between two looks count: a longer time was spent elsewhere.
    static constexpr double k_most_between_looks = 0.1;

    double waited_ = 0;
    double last_ = 0;  // when it looked last
};

}  // namespace sluice::engine
