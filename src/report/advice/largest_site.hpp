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

/// Whether more than an eighth of the growth was not measured around calls. `Grown`: SiteSum or ObjectSum.
template <class Grown>
bool is_estimated(Grown const& sum) {
    return sum.estimated > sum.grown.sum / 8;
}

/// "12.3 MiB", or "about 12.3 MiB": the growth of MPI's memory on the rank that has most of it.
template <class Grown>
std::string grown_text(Grown const& sum) {
    return (is_estimated(sum) ? "about " : "") + size_text(sum.grown.most);
}

/// True for at least 1 MiB and a 20th of the highest peak.
inline bool is_large(std::uint64_t bytes, Summary const& summary) {
    return bytes >= (std::uint64_t{1} << 20) && bytes * 20 >= summary.highest.kib << 10;
}

/// The place that the rank of the highest peak was in; null outside MPI.
inline SiteSum const* site_of_peak(Summary const& summary) {
    auto const found = std::find_if(summary.sites.begin(), summary.sites.end(), [&](SiteSum const& site) {
        return site.function == summary.highest.function && site.place == summary.highest.place;
    });
    return found == summary.sites.end() ? nullptr : &*found;
}

/// Bytes of the MPI at the highest peak that it gave back before its call was over: more than it has taken for good on
/// any rank, in MPI_Init and since. 0 if that rank was not in a call that moves data.
inline std::uint64_t passing_mpi_memory(Summary const& summary) {
    SiteSum const* const site = site_of_peak(summary);
    if (site == nullptr || site->bytes.sum == 0) return 0;
    std::uint64_t kept = 0;
    for (SiteSum const& each : summary.sites)
        kept += each.kind == record::Kind::setup ? 0 : each.grown.most;
    kept += summary.init_private.most + summary.init_shared.most;
    record::Sample const& sample = summary.highest.sample;
    std::uint64_t const then = (std::uint64_t{sample.mpi_private} + sample.mpi_shared) << 10;
    return then - std::min(then, kept);
}

}  // namespace sluice::report
