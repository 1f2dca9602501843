// SPDX-License-Identifier: BSD-3-Clause
/// What advice asks of a place that calls MPI.
#pragma once

#include <algorithm>
#include <string_view>

#include "report/summary/summary.hpp"

namespace sluice::report {

/// True for the all-to-alls that Sluice serves if they are in place.
inline bool is_blocking_alltoall(SiteSum const& site) {
    return site.function.starts_with("MPI_Alltoall") && !site.function.ends_with("_init");
}

inline bool is_in_place(SiteSum const& site) {
    return site.calls > 0 && site.in_place == site.calls;
}

/// MPI_Irecv, MPI_Isend, MPI_Recv_init …: the bytes go on moving when the call has returned.
inline bool starts_request(SiteSum const& site) {
    std::string_view const name = site.function;
    return name.ends_with("_init") || name.ends_with("_init_c") ||
           (name.starts_with("MPI_I") && !name.ends_with("probe"));
}

/// Whether all ranks of a file read or write together.
inline bool is_collective_access(SiteSum const& site) {
    std::string_view const name = site.function;
    return name.find("_all") != std::string_view::npos || name.find("_ordered") != std::string_view::npos;
}

/// Makes objects that the program keeps until it frees them: communicators, windows, persistent requests …
inline bool makes_objects(SiteSum const& site) {
    using record::Kind;
    return site.kind == Kind::communicator || site.kind == Kind::window ||
           (site.object != record::Object::none &&
            (site.object != record::Object::request || site.function.ends_with("_init")));
}

/// A reduction, whose operator runs in the call, or where a nonblocking one is completed.
inline bool is_reduction(SiteSum const& site) {
    std::string_view const name = site.function;
    return name.find("educe") != std::string_view::npos || name.find("scan") != std::string_view::npos;
}

/// Whether operators that the program made may run in calls of the place: what they take counts there.
inline bool may_run_operators(SiteSum const& site, Summary const& summary) {
    if (objects_of_kind(summary.objects, record::Object::operation).made.sum == 0) return false;
    if (site.kind != record::Kind::completion) return is_reduction(site);
    return std::any_of(summary.sites.begin(), summary.sites.end(),
                       [](SiteSum const& other) { return is_reduction(other) && starts_request(other); });
}

}  // namespace sluice::report
