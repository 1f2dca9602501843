// SPDX-License-Identifier: BSD-3-Clause
#include "registration/timeline.hpp"

#include <algorithm>

namespace sluice::bench {

Timeline::Figures Timeline::figures(Time from, Time until) const {
    std::vector<Change> sorted = changes_;
    // At one moment what is given back goes first.
    std::sort(sorted.begin(), sorted.end(),
              [](Change const& a, Change const& b) { return a.at != b.at ? a.at < b.at : a.bytes < b.bytes; });
    Figures figures;
    std::int64_t pinned = 0;
    double area = 0;
    Time at = from;
    for (Change const& change : sorted) {
        Time const to = std::clamp(change.at, from, until);
        area += static_cast<double>(pinned) * static_cast<double>((to - at).count());
        at = to;
        pinned += change.bytes;
        auto const bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(pinned, 0));
        figures.peak = std::max(figures.peak, bytes);
        if (change.at >= from) figures.late_peak = std::max(figures.late_peak, bytes);
    }
    area += static_cast<double>(pinned) * static_cast<double>((until - at).count());
    figures.average = until > from ? area / static_cast<double>((until - from).count()) : 0;
    return figures;
}

}  // namespace sluice::bench
