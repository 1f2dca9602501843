// SPDX-License-Identifier: BSD-3-Clause
/// The median of a few measurements and how sure it is, without a guess at their distribution.
#pragma once

#include <vector>

namespace sluice::cli {

struct MedianInterval {
    double median = 0;
    double low = 0;  ///< the median of all that could have been measured lies in low … high with 95 % confidence
    double high = 0;
    double min = 0;
    double max = 0;
};

/// By order statistics: each measurement lies below the true median with probability 1/2, so the k-th smallest and the
/// k-th largest enclose it but for two tails of the binomial distribution. Fewer than 6 measurements cannot carry 95 %:
/// then low … high is all of them. Of an even number the median is the mean of the middle two. No measurement: zeros.
MedianInterval median_interval(std::vector<double> values);

}  // namespace sluice::cli
