// SPDX-License-Identifier: BSD-3-Clause
/// The fields of a Summary by the names they have in report.json, one list for each structure: writing and reading go
/// over these lists. `a` is called with each name and field.
#pragma once

#include "report/summary/figures/figures.hpp"
#include "report/summary/sites/site_figures.hpp"
#include "report/summary/summary.hpp"

namespace sluice::report {

inline void fields(auto& a, Spread& s) {
    a("ranks", s.ranks);
    a("sum", s.sum);
    a("min", s.least);
    a("min_rank", s.least_rank);
    a("max", s.most);
    a("max_rank", s.most_rank);
}

inline void fields(auto& a, record::Sample& s) {
    a("time_us", s.time_us);
    a("resident_kib", s.resident);
    a("mpi_private_kib", s.mpi_private);
    a("mpi_shared_kib", s.mpi_shared);
    a("files_kib", s.files);
    a("sluice_kib", s.sluice);
    a("in_flight_kib", s.in_flight);
    a("pinned_kib", s.pinned);
    a("left_pinned_kib", s.left_pinned);
    a("used_at_once_kib", s.used_at_once);
    a("site", s.site);
}

inline void fields(auto& a, CodeInFile& c) {
    a("file_mark", c.mark);
    a("offset", c.offset);
}

inline void fields(auto& a, SiteSum& s) {
    a("id", s.id);
    a("function", s.function);
    a("place", s.place);
    a("code", s.code);
    a("kind", s.kind);
    for (SumOfSite const& figure : k_sums_of_site)
        a(figure.name, s.*figure.sum);
    for (SpreadOfSite const& figure : k_spreads_of_site)
        a(figure.name, s.*figure.spread);
    a("in_flight_peak_kib", s.in_flight_peak_kib);
    a("first_us", s.first_us);
    a("last_us", s.last_us);
    a("growing_since_us", s.growing_since_us);
    a("growing_ranks", s.growing_ranks);
    a("object", s.object);
    a("sizes", s.sizes);
}

inline void fields(auto& a, CommSum& c) {
    a("root", c.root);
    a("number", c.number);
    a("size", c.size);
    a("first", c.first);
    a("stride", c.stride);
    a("id", c.id);
    a("site", c.site);
    a("memory_kib", c.memory_kib);
    a("made_us", c.made_us);
    a("freed", c.freed);
}

inline void fields(auto& a, Whereabouts& w) {
    a("site", w.site);
    a("state", w.state);
    a("function", w.function);
    a("place", w.place);
    a("ranks", w.ranks);
    a("last_us", w.last_us);
    a("for_us", w.since_us);
    a("resident_kib", w.resident_kib);
    a("awaited", w.awaited);
}

inline void fields(auto& a, OwnLimit& o) {
    a("limit_bytes", o.limit);
    a("used_bytes", o.used);
    a("is_address_space", o.is_address_space);
}

inline void fields(auto& a, EndSum& e) {
    a("how", e.how);
    a("code", e.code);
    a("ranks", e.ranks);
    a("at_us", e.at_us);
    a("function", e.function);
    a("place", e.place);
    a("own_limit", e.own);
    a("memory_kills", e.memory_kills);
}

inline void fields(auto& a, Growth& g) {
    a("since_us", g.since_us);
    a("until_us", g.until_us);
    a("from_kib", g.from_kib);
    a("to_kib", g.to_kib);
}

inline void fields(auto& a, GrowthSum& g) {
    a("ranks", g.ranks);
    a("max_rank", g.most_rank);
    a("max", g.most);
    a("earliest_us", g.earliest_us);
}

inline void fields(auto& a, PeakOf& p) {
    a("rank", p.rank);
    a("kib", p.kib);
    a("sample", p.sample);
    a("sluice_fixed_kib", p.sluice_fixed_kib);
    a("kept_mpi_kib", p.kept_mpi_kib);
    a("seen", p.seen);
    a("function", p.function);
    a("place", p.place);
}

inline void fields(auto& a, NodeSum& n) {
    a("node", n.node);
    a("host", n.host);
    a("ranks", n.ranks);
    a("processors", n.processors);
    a("limit_bytes", n.limit);
    a("asked_bytes", n.asked);
    a("last_own_kib", n.last_own_kib);
    a("last_shared_kib", n.last_shared_kib);
    a("peaks_own_kib", n.peaks_own_kib);
    a("peaks_shared_kib", n.peaks_shared_kib);
    a("peaks_kib", n.peaks_kib);
    a("peaks_files_kib", n.peaks_files_kib);
    a("most_kib", n.most_kib);
}

inline void fields(auto& a, RankDetail& r) {
    a("rank", r.rank);
    a("state", r.state);
    a("peak_kib", r.peak_kib);
    a("peak_mpi_kib", r.peak_mpi_kib);
    a("waiting_ns", r.waiting_ns);
    a("time_in_mpi_ns", r.time_in_mpi_ns);
    a("init_ns", r.init_ns);
    a("now_us", r.now_us);
    a("last", r.last);
    a("current_site", r.current_site);
    a("current_since_us", r.current_since_us);
    a("awaited", r.awaited);
    a("sites", r.site_ids);
    a("curve", r.curve);
    a("events", r.events);
}

inline void fields(auto& a, ObjectSum& o) {
    a("kind", o.kind);
    a("made", o.made);
    a("left", o.left);
    a("made_there", o.made_there);
    a("grown_bytes", o.grown);
    a("estimated_bytes", o.estimated);
}

inline void fields(auto& a, CounterSum& c) {
    a("service", c.service);
    a("what", c.what);
    a("count", c.count);
}

inline void fields(auto& a, Identity& i) {
    a("rank", i.rank);
    a("user", i.user);
    a("command", i.command);
}

inline void fields(auto& a, Summary& s) {
    a("world_size", s.world_size);
    a("mpi", s.mpi);
    a("identity", s.identity);
    a("start_unix_us", s.start_unix_us);
    a("duration_us", s.duration_us);
    a("ranks_seen", s.ranks_seen);
    a("states", s.states);
    a("ends", s.ends);
    for (Figure const& figure : figures())
        a(figure.name, s.*figure.of_ranks);
    a("highest", s.highest);
    a("time_by_kind_ns", s.time_by_kind_ns);
    a("served_calls", s.served_calls);
    a("served_bytes", s.served_bytes);
    a("passed_on", s.passed_on);
    a("comms_total", s.comms_total);
    a("comms_not_kept", s.comms_not_kept);
    a("objects", s.objects);
    a("growing", s.growing);
    a("sites", s.sites);
    a("matrix", s.matrix);
    a("communicators", s.comms);
    a("whereabouts", s.now);
    a("nodes", s.nodes);
    a("counters", s.counters);
    a("ranks", s.ranks);
    a("resident_over_ranks", s.resident_over_ranks);
    a("mpi_over_ranks", s.mpi_over_ranks);
}

}  // namespace sluice::report
