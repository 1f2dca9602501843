// SPDX-License-Identifier: BSD-3-Clause
/// Finds the call of a report that has the most of something, for a sentence of the advice.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "report/show/words.hpp"
#include "report/summary/summary.hpp"

namespace sluice::report {

/// Returns the site with the greatest figure; null if all are 0.
template <class Figure>
SiteSum const* greatest(Summary const& summary, Figure figure) {
    auto const found = std::max_element(summary.sites.begin(), summary.sites.end(),
                                        [&](SiteSum const& a, SiteSum const& b) { return figure(a) < figure(b); });
    return found == summary.sites.end() || figure(*found) == 0 ? nullptr : &*found;
}

inline std::string call_of(SiteSum const& site) {
    return call_text(site.function, site.place);
}

/// True for at least 1 MiB and a 20th of the highest peak.
inline bool is_large(std::uint64_t bytes, Summary const& summary) {
    return bytes >= (std::uint64_t{1} << 20) && bytes * 20 >= summary.highest.kib << 10;
}

}  // namespace sluice::report
