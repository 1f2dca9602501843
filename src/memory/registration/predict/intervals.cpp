// SPDX-License-Identifier: BSD-3-Clause
#include "memory/registration/predict/intervals.hpp"

#include <algorithm>
#include <cmath>

namespace sluice::memory::registration {

namespace {

constexpr double k_new_error = 0.25;   // the weight of the newest error
constexpr double k_largest_error = 1;  // a pause of another loop says nothing of the period
constexpr std::size_t k_median_of = 7;

}  // namespace

void Intervals::add(Time interval) noexcept {
    interval = std::max(interval, Time(1));
    if (count_ > 0) judge(interval);
    kept_[count_ % k_kept] = interval;
    ++count_;
    estimate();
}

void Intervals::judge(Time interval) noexcept {
    residuals_[(count_ - 1) % k_kept] = interval - expected();
    for (std::size_t i = 0; i < k_estimates; ++i) {
        double const off = std::abs(static_cast<double>((interval - estimates_[i]).count()));
        double const error = std::min(off / static_cast<double>(interval.count()), k_largest_error);
        errors_[i] += k_new_error * (error - errors_[i]);
    }
}

void Intervals::estimate() noexcept {
    Time const last = kept_[(count_ - 1) % k_kept];
    Time const before = kept_[count_ > 1 ? (count_ - 2) % k_kept : 0];
    Time& shortest = estimates_[static_cast<std::size_t>(Estimate::shortest)];
    shortest = count_ == 1 ? last : std::min(shortest, last);
    estimates_[static_cast<std::size_t>(Estimate::median)] = median();
    estimates_[static_cast<std::size_t>(Estimate::last)] = last;
    estimates_[static_cast<std::size_t>(Estimate::trend)] = std::max(2 * last - before, last / 2);
    if (wanted_ != Estimate::best) {
        chosen_ = wanted_;
        return;
    }
    auto const best = std::min_element(errors_.begin(), errors_.end());  // of equals the first
    chosen_ = static_cast<Estimate>(best - errors_.begin());
}

Time Intervals::median() const noexcept {
    std::size_t const n = std::min<std::size_t>(count_, k_median_of);
    std::array<Time, k_median_of> sorted{};
    for (std::size_t i = 0; i < n; ++i)
        sorted[i] = kept_[(count_ - 1 - i) % k_kept];
    std::sort(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(n));
    return n % 2 == 1 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

/// As much earlier as the last intervals were off at most, but for the worst if there are enough, and more than that
/// while few are known. The first interval alone says nothing of its noise.
Time Intervals::low() const noexcept {
    if (wanted_ == Estimate::shortest) return expected();
    if (count_ < 2) return expected() - expected() / 32;
    std::size_t const known = std::min<std::size_t>(count_ - 1, k_kept);
    Time worst{0};
    Time second{0};
    for (std::size_t i = 0; i < known; ++i) {
        Time const off = std::chrono::abs(residuals_[i]);
        second = std::max(second, std::min(off, worst));
        worst = std::max(worst, off);
    }
    if (known >= k_kept / 2) worst = second;
    double const more = 1.25 + 1.5 / static_cast<double>(known);
    return std::max(expected() - Time(std::llround(more * static_cast<double>(worst.count()))), Time(0));
}

Time Intervals::high() const noexcept {
    return expected() + std::max(expected() / 8, 2 * (expected() - low()));
}

}  // namespace sluice::memory::registration
