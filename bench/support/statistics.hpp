// SPDX-License-Identifier: BSD-3-Clause
/// Order statistics of a few samples, as the rows of benchmarks show them.
#pragma once

#include <span>
#include <vector>

namespace sluice::bench {

struct Spread {
    double min = 0;
    double median = 0;
    double max = 0;
};

/// Needs at least one sample; the median of an even number is the mean of the middle two.
Spread spread_of(std::span<double const> samples);

/// Returns the pairwise ratios a[i] / b[i] of two series that were measured in turns. Throws std::invalid_argument for
/// unequal lengths.
std::vector<double> pairwise_ratios(std::span<double const> a, std::span<double const> b);

}  // namespace sluice::bench
