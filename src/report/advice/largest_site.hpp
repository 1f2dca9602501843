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

/// Bytes of the MPI at the highest peak.
inline std::uint64_t mpi_memory_then(Summary const& summary) {
    record::Sample const& sample = summary.highest.sample;
    return (std::uint64_t{sample.mpi_private} + sample.mpi_shared) << 10;
}

/// Bytes that the MPI has taken for good on any rank, in MPI_Init and in calls that are known.
inline std::uint64_t mpi_memory_of_calls(Summary const& summary) {
    std::uint64_t bytes = summary.init_private.most + summary.init_shared.most;
    for (SiteSum const& each : summary.sites)
        bytes += each.kind == record::Kind::setup ? 0 : each.grown.most;
    return bytes;
}

/// Bytes of the MPI at the highest peak that it gave back before its call was over: more than it has taken for good on
/// any rank, and than that rank has at the end. 0 if that rank was not in a call that moves data.
inline std::uint64_t passing_mpi_memory(Summary const& summary) {
    SiteSum const* const site = site_of_peak(summary);
    if (site == nullptr || site->bytes.sum == 0) return 0;
    std::uint64_t const kept = std::max(mpi_memory_of_calls(summary), summary.highest.kept_mpi_kib << 10);
    std::uint64_t const then = mpi_memory_then(summary);
    return then - std::min(then, kept);
}

/// Bytes of the MPI at the highest peak that stay, and of which it is not known in which calls they came.
inline std::uint64_t unplaced_mpi_memory(Summary const& summary) {
    std::uint64_t const stays = std::min(mpi_memory_then(summary), summary.highest.kept_mpi_kib << 10);
    return stays - std::min(stays, mpi_memory_of_calls(summary));
}

}  // namespace sluice::report
