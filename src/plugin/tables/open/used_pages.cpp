// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/tables/open/used_pages.hpp"

#include <algorithm>

#include "plugin/binding/tally.hpp"

namespace sluice::plugin {

void UsedPages::add(std::uintptr_t from, std::uint64_t bytes) noexcept {
    if (bytes == 0) return;
    Range const pages{from / k_page * k_page, (from + bytes + k_page - 1) / k_page * k_page};
    CallersLock const lock(changing_);
    auto const end = ranges_.begin() + static_cast<std::ptrdiff_t>(used_);
    auto const behind = std::upper_bound(ranges_.begin(), end, pages.begin,
                                         [](std::uintptr_t at, Range const& r) { return at < r.begin; });
    if (behind != ranges_.begin() && (behind - 1)->end >= pages.end) [[likely]]
        return;
    join(pages);
}

/// Grows by the ranges that it overlaps or touches: they become one.
void UsedPages::join(Range pages) noexcept {
    auto const end = ranges_.begin() + static_cast<std::ptrdiff_t>(used_);
    auto const first = std::find_if(ranges_.begin(), end, [&](Range const& r) { return r.end >= pages.begin; });
    auto last = first;
    std::uint64_t had = 0;
    for (; last != end && last->begin <= pages.end; ++last) {
        pages = {std::min(pages.begin, last->begin), std::max(pages.end, last->end)};
        had += last->end - last->begin;
    }
    if (first == last) {
        if (used_ == k_room) return;
        std::move_backward(first, end, end + 1);
        ++used_;
    } else {
        std::move(last, end, first + 1);
        used_ -= static_cast<std::size_t>(last - first) - 1;
    }
    *first = pages;
    bytes_.store(bytes_.load(std::memory_order_relaxed) + (pages.end - pages.begin) - had, std::memory_order_relaxed);
}

}  // namespace sluice::plugin
