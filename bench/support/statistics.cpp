// SPDX-License-Identifier: BSD-3-Clause
#include "support/statistics.hpp"

#include <algorithm>
#include <cstddef>
#include <stdexcept>

namespace sluice::bench {

Spread spread_of(std::span<double const> samples) {
    if (samples.empty()) throw std::invalid_argument("no samples to describe");
    std::vector<double> sorted(samples.begin(), samples.end());
    std::sort(sorted.begin(), sorted.end());
    std::size_t const middle = sorted.size() / 2;
    double const median = sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    return {sorted.front(), median, sorted.back()};
}

std::vector<double> pairwise_ratios(std::span<double const> a, std::span<double const> b) {
    if (a.size() != b.size()) throw std::invalid_argument("two series of different lengths have no pairs");
    std::vector<double> ratios;
    for (std::size_t i = 0; i < a.size(); ++i)
        ratios.push_back(a[i] / b[i]);
    return ratios;
}

}  // namespace sluice::bench
