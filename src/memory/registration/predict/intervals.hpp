// SPDX-License-Identifier: BSD-3-Clause
/// What is known of the time from one event to another: the last intervals, and the estimate that was best so far. Does
/// not allocate.
///
///     shortest   the shortest ever seen (as published: Li et al. 2011, section 4.2)
///     median     of the last seven: the best of a period with noise, blind to a single long pause
///     last       the best of a period that changes in steps
///     trend      the last and its growth: the best of a period that drifts
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "memory/registration/range.hpp"

namespace sluice::memory::registration {

enum class Estimate : std::uint8_t { shortest, median, last, trend, best };

class Intervals {
  public:
    explicit(false) Intervals(Estimate wanted = Estimate::best) noexcept : wanted_(wanted) {}

    void add(Time interval) noexcept;
    std::uint64_t count() const noexcept { return count_; }
    /// The most likely next interval; not before the first add().
    Time expected() const noexcept { return estimates_[static_cast<std::size_t>(chosen_)]; }
    /// The median of the last ones.
    Time typical() const noexcept { return estimates_[static_cast<std::size_t>(Estimate::median)]; }
    /// The next interval is hardly shorter.
    Time low() const noexcept;
    /// An interval that is longer is another pattern.
    Time high() const noexcept;
    Estimate chosen() const noexcept { return chosen_; }

  private:
    static constexpr std::size_t k_kept = 8;
    static constexpr std::size_t k_estimates = 4;
    void judge(Time interval) noexcept;
    void estimate() noexcept;
    Time median() const noexcept;

    Estimate wanted_;
    Estimate chosen_ = Estimate::shortest;
    std::uint64_t count_ = 0;
    std::array<Time, k_kept> kept_{};       // the last intervals, a ring
    std::array<Time, k_kept> residuals_{};  // interval minus what was expected, a ring
    std::array<Time, k_estimates> estimates_{};
    std::array<double, k_estimates> errors_{};  // relative, faded
};

}  // namespace sluice::memory::registration
