// SPDX-License-Identifier: BSD-3-Clause
/// The median of a few measurements and its confidence, without an assumption on their distribution.
#pragma once

#include <vector>

namespace sluice::cli {

struct MedianInterval {
    double median = 0;
    double low = 0;  ///< with 95 % confidence, the true median is in low … high
    double high = 0;
    double min = 0;
    double max = 0;
};

/// By order statistics: each measurement is below the true median with probability 1/2, so the k-th smallest and the
/// k-th largest enclose it except with the probability of the two tails of the binomial distribution. Fewer than 6
/// measurements cannot carry 95 %: then low … high encloses all of them. The median of an even number is the mean of
/// the middle two. All figures are 0 if there is no measurement.
MedianInterval median_interval(std::vector<double> values);

}  // namespace sluice::cli
