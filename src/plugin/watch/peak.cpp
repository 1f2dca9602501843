// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/watch/peak.hpp"

#include <algorithm>

namespace sluice::plugin {

void keep_peak(Watch& watch, record::Sample const& sample, KernelSays const& kernel) noexcept {
    record::RankRecord& record = watch.record();
    record::RankHead& head = record.head;
    auto const most = std::max(sample.resident, static_cast<std::uint32_t>(kernel.high_water / 1024));
    if (most <= head.peak.resident) return;
    record::Sample peak = sample;
    auto segments = static_cast<std::uint32_t>(kernel.segments / 1024);
    if (head.recent > 0) {
        record::Sample const& before = record.recent[(head.recent - 1) % record::k_recent];
        if (before.resident > sample.resident) {
            peak = before;
            segments = head.segments_now;
        }
    }
    peak.resident = most;
    head.peak = peak;
    head.peak_segments = std::min(segments, most);
    std::uint64_t const fixed = watch.memory().fixed() / 1024;
    head.peak_sluice_fixed = static_cast<std::uint32_t>(std::min<std::uint64_t>(fixed, peak.sluice));
}

}  // namespace sluice::plugin
