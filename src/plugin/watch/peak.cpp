// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/watch/peak.hpp"

#include <algorithm>

namespace sluice::plugin {

namespace {

/// What the kernel adds up for each thread in batches makes two looks at the same memory differ by some hundred KiB.
constexpr std::uint32_t k_near_kib = 1024;

}  // namespace

void keep_peak(Watch& watch, record::Sample const& sample, KernelSays const& kernel, bool before_init) noexcept {
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
    bool const is_between = most - peak.resident > k_near_kib;
    if (is_between && most - head.peak.resident <= k_near_kib) {
        head.peak.resident = most;  // the same peak, looked at again
        return;
    }
    using record::PeakSeen;
    head.peak_seen = before_init ? PeakSeen::before_init : is_between ? PeakSeen::between_samples : PeakSeen::at_sample;
    peak.resident = most;
    head.peak = peak;
    head.peak_segments = std::min(segments, most);
    auto const of_sluice = [&peak](std::uint64_t bytes) {
        return static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes / 1024, peak.sluice));
    };
    head.peak_sluice_fixed = of_sluice(watch.memory().fixed());
    head.peak_sluice_files = of_sluice(watch.memory().own().found().file_bytes);
}

}  // namespace sluice::plugin
