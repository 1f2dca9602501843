// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/tables/open/flights.hpp"

#include <algorithm>
#include <bit>
#include <span>
#include <tuple>

namespace sluice::plugin {

namespace {

std::uintptr_t end_of(FlyingRange const& range) noexcept {
    return range.from + range.span;
}

bool has_gaps(FlyingRange const& range) noexcept {
    return range.bytes < range.span;
}

/// Joins ranges without gaps, which are sorted, where they touch; returns how many are left.
std::size_t join(std::span<FlyingRange> ranges) noexcept {
    std::size_t kept = 0;
    for (FlyingRange const& range : ranges) {
        if (kept > 0 && range.from <= end_of(ranges[kept - 1])) {
            FlyingRange& last = ranges[kept - 1];
            last.span = std::max(end_of(last), end_of(range)) - last.from;
        } else {
            ranges[kept++] = range;
        }
    }
    return kept;
}

bool is_covered(FlyingRange const& range, std::span<FlyingRange const> by) noexcept {
    return std::any_of(by.begin(), by.end(), [&range](FlyingRange const& one) {
        return one.from <= range.from && end_of(range) <= end_of(one);
    });
}

}  // namespace

std::uint64_t Flights::measure(std::uint32_t site) const noexcept {
    std::array<FlyingRange, k_room> ranges;
    std::size_t count = 0;
    for (std::uint64_t left = used_; left != 0; left &= left - 1) {
        Entry const& entry = entries_[static_cast<std::size_t>(std::countr_zero(left))];
        if (site == k_all || entry.site == site) ranges[count++] = entry.range;
    }
    std::span const all = std::span(ranges).first(count);
    std::sort(all.begin(), all.end(), [](FlyingRange const& a, FlyingRange const& b) {
        return std::make_tuple(has_gaps(a), a.from, a.span, a.bytes) <
               std::make_tuple(has_gaps(b), b.from, b.span, b.bytes);
    });
    auto const first_with_gaps = std::find_if(all.begin(), all.end(), has_gaps);
    auto const dense = static_cast<std::size_t>(first_with_gaps - all.begin());
    std::span<FlyingRange const> const joined = all.first(join(all.first(dense)));
    std::uint64_t bytes = 0;
    for (FlyingRange const& range : joined)
        bytes += range.span;
    for (std::size_t i = dense; i < count; ++i)
        if ((i == dense || ranges[i] != ranges[i - 1]) && !is_covered(ranges[i], joined)) bytes += ranges[i].bytes;
    return bytes;
}

/// After a change of the entries: the figures, which have bytes of other ranges, too, change by the difference.
void Flights::measure_again(std::uint32_t site, std::uint64_t rank_before, std::uint64_t site_before) noexcept {
    plugin::add(of_rank_, measure(k_all) - rank_before);
    plugin::add(of_sites_[site], measure(site) - site_before);
}

std::uint32_t Flights::add(std::uint32_t site, FlyingRange const& range) noexcept {
    CallersLock const lock(changing_);
    std::uint64_t overlapping = 0;
    for (std::uint64_t left = used_; left != 0; left &= left - 1) {
        auto const i = static_cast<std::uint32_t>(std::countr_zero(left));
        Entry& entry = entries_[i];
        if (end_of(entry.range) <= range.from || end_of(range) <= entry.range.from) continue;
        if (entry.range == range && entry.site == site) {
            ++entry.times;
            return i;
        }
        overlapping |= std::uint64_t{1} << i;
    }
    if (used_ == ~std::uint64_t{0}) {
        plugin::add(alone_, 1);
        add_bytes(site, range.bytes);
        return k_alone;
    }
    std::uint64_t const of_rank = overlapping != 0 ? measure(k_all) : 0;
    std::uint64_t const of_site = overlapping != 0 ? measure(site) : 0;
    auto const place = static_cast<std::uint32_t>(std::countr_one(used_));
    entries_[place] = {range, site, 1};
    used_ |= std::uint64_t{1} << place;
    if (overlapping != 0) [[unlikely]] {
        overlapped_ |= overlapping | std::uint64_t{1} << place;
        measure_again(site, of_rank, of_site);
    } else {
        add_bytes(site, range.bytes);
    }
    return place;
}

void Flights::remove(std::uint32_t site, FlyingRange const& range, std::uint32_t place) noexcept {
    if (place >= k_room) return remove_bytes(site, range.bytes);
    CallersLock const lock(changing_);
    if (--entries_[place].times > 0) return;
    std::uint64_t const bit = std::uint64_t{1} << place;
    if ((overlapped_ & bit) == 0) {
        used_ &= ~bit;
        return remove_bytes(site, range.bytes);
    }
    std::uint64_t const of_rank = measure(k_all);
    std::uint64_t const of_site = measure(site);
    used_ &= ~bit;
    overlapped_ &= ~bit;
    measure_again(site, of_rank, of_site);
}

void Flights::add_bytes(std::uint32_t site, std::uint64_t bytes) noexcept {
    plugin::add(of_rank_, bytes);
    plugin::add(of_sites_[site], bytes);
}

void Flights::remove_bytes(std::uint32_t site, std::uint64_t bytes) noexcept {
    subtract(of_rank_, bytes);
    subtract(of_sites_[site], bytes);
}

}  // namespace sluice::plugin
