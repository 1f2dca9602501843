// SPDX-License-Identifier: BSD-3-Clause
#include "cli/bench/overhead/median_interval.hpp"

#include <algorithm>
#include <cmath>

namespace sluice::cli {

namespace {

constexpr double k_tail = 0.025;

/// Returns how many of `n` measurements may be outside the interval on each side.
std::size_t outside(std::size_t n) {
    // This is the probability that at most k of n are below the median. It is summed up in logarithms, because 2^-n
    // underflows.
    double below = 0;
    double log_of_term = -static_cast<double>(n) * std::log(2.0);
    for (std::size_t k = 0; k < n / 2; ++k) {
        below += std::exp(log_of_term);
        if (below > k_tail) return k > 0 ? k - 1 : 0;
        log_of_term += std::log(static_cast<double>(n - k)) - std::log(static_cast<double>(k + 1));
    }
    return n > 0 ? (n - 1) / 2 : 0;
}

}  // namespace

MedianInterval median_interval(std::vector<double> values) {
    if (values.empty()) return {};
    std::sort(values.begin(), values.end());
    std::size_t const n = values.size();
    std::size_t const out = outside(n);
    double const median = n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
    return {median, values[out], values[n - 1 - out], values.front(), values.back()};
}

}  // namespace sluice::cli
