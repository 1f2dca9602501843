// SPDX-License-Identifier: BSD-3-Clause
/// The median of a few measurements and its confidence, without an assumption on their distribution.
#pragma once

#include <vector>

namespace sluice::cli {

struct MedianInterval {
    double median = 0;
    double low = 0;  ///< with 95 % confidence, the median of the distribution is in low … high
    double high = 0;
    double min = 0;
    double max = 0;
};

/// By order statistics: each measurement is below the true median with probability 1/2, so the k-th smallest and the
/// k-th largest enclose it but for two tails of the binomial distribution. Fewer than 6 measurements cannot carry 95 %:
/// then low … high is all of them. Of an even number the median is the mean of the middle two. No measurement: zeros.
MedianInterval median_interval(std::vector<double> values);

}  // namespace sluice::cli
