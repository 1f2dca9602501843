// SPDX-License-Identifier: BSD-3-Clause
#include "report/summary/memory_curve.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace sluice::report {

namespace {

constexpr std::size_t k_tail_points = 120;
constexpr std::uint32_t k_buckets = 1 + 32 * 8;

void append_ring(std::vector<record::Sample>& samples, record::RankRecord const& record) {
    std::uint64_t const written = record.head.recent;
    std::uint64_t const kept = std::min<std::uint64_t>(written, record::k_recent);
    for (std::uint64_t i = written - kept; i < written; ++i) {
        record::Sample const& sample = record.recent[i % record::k_recent];
        // A half-written ring may still hold a sample of the round before.
        if (samples.empty() || sample.time_us > samples.back().time_us) samples.push_back(sample);
    }
}

std::size_t first_of_ring(std::vector<record::Sample> const& samples, record::RankRecord const& record) {
    if (record.head.recent <= record::k_recent) return 0;
    std::uint64_t const begin = record.recent[record.head.recent % record::k_recent].time_us;
    auto const found =
        std::lower_bound(samples.begin(), samples.end(), begin,
                         [](record::Sample const& sample, std::uint64_t time) { return sample.time_us < time; });
    return static_cast<std::size_t>(found - samples.begin());
}

void insert_peak(std::vector<record::Sample>& curve, record::Sample const& peak) {
    if (peak.resident == 0 || curve.size() < 2) return;
    auto const after = std::lower_bound(curve.begin(), curve.end(), peak.time_us,
                                        [](record::Sample const& s, std::uint64_t time) { return s.time_us < time; });
    if (after != curve.end() && after->time_us == peak.time_us) {
        *after = peak;
    } else if (curve.size() < k_curve_points) {
        curve.insert(after, peak);
    } else {
        // The peak replaces the sample before it, or the first sample if the peak comes before all others.
        *(after == curve.begin() ? after : std::prev(after)) = peak;
    }
}

}  // namespace

std::vector<record::Sample> samples_of(record::RankRecord const& record) {
    std::vector<record::Sample> samples;
    std::uint64_t const ring_begin = record.head.recent == 0 ? ~std::uint64_t{0}
                                     : record.head.recent <= record::k_recent
                                         ? record.recent[0].time_us
                                         : record.recent[record.head.recent % record::k_recent].time_us;
    std::uint64_t const history = std::min<std::uint64_t>(record.head.history, record::k_history);
    for (std::uint64_t i = 0; i < history; ++i) {
        record::Sample const& sample = record.history[i];
        if (sample.time_us >= ring_begin) break;
        if (samples.empty() || sample.time_us > samples.back().time_us) samples.push_back(sample);
    }
    append_ring(samples, record);
    return samples;
}

std::vector<record::Sample> thinned(std::vector<record::Sample> const& samples, std::size_t most) {
    if (samples.size() <= most) return samples;
    std::uint64_t const begin = samples.front().time_us;
    std::uint64_t const span = samples.back().time_us - begin + 1;
    std::uint64_t const bins = most - 1;
    std::uint64_t const width = span / bins + 1;
    std::vector<record::Sample> result;
    std::uint64_t current = ~std::uint64_t{0};
    for (std::size_t i = 0; i + 1 < samples.size(); ++i) {
        std::uint64_t const bin = (samples[i].time_us - begin) / width;
        if (bin != current)
            result.push_back(samples[i]);
        else {
            record::Sample const before = result.back();
            if (samples[i].resident > before.resident) result.back() = samples[i];
            record::keep_most_pinned(result.back(), before);
            record::keep_most_pinned(result.back(), samples[i]);
        }
        current = bin;
    }
    result.push_back(samples.back());
    return result;
}

std::vector<record::Sample> curve_of(record::RankRecord const& record) {
    std::vector<record::Sample> const all = samples_of(record);
    std::size_t const ring = first_of_ring(all, record);
    std::vector<record::Sample> curve;
    if (ring == 0) {
        curve = thinned(all, k_curve_points);
    } else {
        auto const middle = all.begin() + static_cast<std::ptrdiff_t>(ring);
        curve = thinned({all.begin(), middle}, k_curve_points - k_tail_points);
        std::vector<record::Sample> const tail = thinned({middle, all.end()}, k_tail_points);
        curve.insert(curve.end(), tail.begin(), tail.end());
    }
    if (record.head.peak_seen != record::PeakSeen::before_init) insert_peak(curve, record.head.peak);
    return curve;
}

std::uint64_t most_of_application(std::vector<record::Sample> const& curve, std::uint64_t peak_kib) {
    if (curve.empty()) return peak_kib;
    std::uint64_t least = peak_kib;
    for (record::Sample const& s : curve)
        least = std::min(least, std::uint64_t{s.mpi_private} + s.mpi_shared + s.files + s.sluice);
    return peak_kib - least;
}

std::uint64_t OverRanks::width_for(std::uint64_t duration_us) {
    return std::bit_ceil(
        std::max<std::uint64_t>(1, std::min<std::uint64_t>(duration_us, std::uint64_t{1} << 60) / k_time_bins + 1));
}

std::uint32_t OverRanks::bucket_of(std::uint32_t kib) {
    if (kib == 0) return 0;
    std::uint32_t const octave = static_cast<std::uint32_t>(std::bit_width(kib)) - 1;
    std::uint32_t const eighth = (octave >= 3 ? kib >> (octave - 3) : kib << (3 - octave)) & 7;
    return 1 + octave * 8 + eighth;
}

std::uint32_t OverRanks::middle_of(std::uint32_t bucket) {
    if (bucket == 0) return 0;
    std::uint32_t const octave = std::min<std::uint32_t>((bucket - 1) / 8, 31);
    double const low = std::ldexp(8.0 + (bucket - 1) % 8, static_cast<int>(octave) - 3);
    double const width = std::ldexp(1.0, static_cast<int>(octave) - 3);
    return static_cast<std::uint32_t>(width <= 1.0 ? low : low + width / 2);
}

OverRanks OverRanks::of(std::vector<record::Sample> const& samples, std::uint64_t bin_us,
                        std::uint32_t (*value)(record::Sample const&)) {
    OverRanks result;
    if (samples.empty()) return result;
    result.bin_us_ = bin_us;
    // The curve is cut off at twice the bins of any job, in case a last sample is later than the record says.
    std::uint64_t const last = std::min<std::uint64_t>(samples.back().time_us / bin_us, 2 * k_time_bins);
    std::vector<std::uint32_t> most(last + 1, 0);
    std::vector<bool> seen(last + 1, false);
    for (record::Sample const& sample : samples) {
        std::uint64_t const bin = std::min(sample.time_us / bin_us, last);
        most[bin] = std::max(most[bin], value(sample));
        seen[bin] = true;
    }
    std::uint32_t held = value(samples.front());
    for (std::uint64_t bin = 0; bin <= last; ++bin) {
        if (seen[bin]) held = most[bin];
        result.bins_.push_back({held, held, {{bucket_of(held), 1}}});
    }
    return result;
}

namespace {

void add_bin(OverRanks::Bin& to, OverRanks::Bin const& from) {
    if (from.counts.empty()) return;
    if (to.counts.empty()) {
        to = from;
        return;
    }
    to.least = std::min(to.least, from.least);
    to.most = std::max(to.most, from.most);
    std::vector<std::pair<std::uint32_t, std::uint32_t>> both;
    auto a = to.counts.begin();
    auto b = from.counts.begin();
    while (a != to.counts.end() || b != from.counts.end()) {
        if (b == from.counts.end() || (a != to.counts.end() && a->first < b->first)) {
            both.push_back(*a++);
        } else if (a == to.counts.end() || b->first < a->first) {
            both.push_back(*b++);
        } else {
            both.emplace_back(a->first, a->second + b->second);
            ++a;
            ++b;
        }
    }
    to.counts = std::move(both);
}

}  // namespace

void OverRanks::coarsen() {
    std::vector<Bin> wide((bins_.size() + 1) / 2);
    for (std::size_t i = 0; i < bins_.size(); ++i)
        add_bin(wide[i / 2], bins_[i]);
    bins_ = std::move(wide);
    bin_us_ *= 2;
}

void OverRanks::add(OverRanks other) {
    if (other.bin_us_ == 0) return;
    if (bin_us_ == 0) {
        *this = std::move(other);
        return;
    }
    while (bin_us_ < other.bin_us_)
        coarsen();
    while (other.bin_us_ < bin_us_)
        other.coarsen();
    if (bins_.size() < other.bins_.size()) bins_.resize(other.bins_.size());
    for (std::size_t i = 0; i < other.bins_.size(); ++i)
        add_bin(bins_[i], other.bins_[i]);
}

std::uint32_t OverRanks::quantile(Bin const& bin, double part) {
    if (part <= 0.0) return bin.least;
    if (part >= 1.0) return bin.most;
    std::uint64_t all = 0;
    for (auto const& [bucket, ranks] : bin.counts)
        all += ranks;
    double const wanted = part * static_cast<double>(all);
    std::uint64_t below = 0;
    for (auto const& [bucket, ranks] : bin.counts) {
        below += ranks;
        if (static_cast<double>(below) >= wanted)
            return std::clamp(middle_of(std::min(bucket, k_buckets)), bin.least, bin.most);
    }
    return bin.most;
}

}  // namespace sluice::report
