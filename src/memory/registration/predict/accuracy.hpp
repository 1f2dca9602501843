// SPDX-License-Identifier: BSD-3-Clause
/// How good predictions were, as counters. Does not allocate.
#pragma once

#include <algorithm>
#include <cstdint>

#include "memory/registration/range.hpp"

namespace sluice::memory::registration {

/// Counts each prediction once: when its use comes, or when it is given up.
struct Accuracy {
    std::uint64_t predictions = 0;
    std::uint64_t within_half_percent = 0;  ///< the use was no more than 0.5 % of the period away from `expected`
    std::uint64_t within_five_percent = 0;  ///< 5 %; holds those within 0.5 %
    std::uint64_t early = 0;                ///< more than 5 %: the range was registered too early
    std::uint64_t late = 0;                 ///< more than 5 %: the use came before
    std::uint64_t missed = 0;               ///< the use did not come

    void judge(Time expected, Time period, Time used) noexcept {
        double const error = static_cast<double>((used - expected).count());
        double const part = error / static_cast<double>(std::max<Time::rep>(period.count(), 1));
        ++predictions;
        if (part >= -0.005 && part <= 0.005) ++within_half_percent;
        if (part >= -0.05 && part <= 0.05)
            ++within_five_percent;
        else
            ++(part > 0 ? early : late);
    }
    void miss() noexcept {
        ++predictions;
        ++missed;
    }
    double share(std::uint64_t count) const noexcept {
        return predictions == 0 ? 0 : static_cast<double>(count) / static_cast<double>(predictions);
    }
};

}  // namespace sluice::memory::registration
