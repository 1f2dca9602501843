// SPDX-License-Identifier: BSD-3-Clause
#include "report/summary/merge.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "report/summary/figures/figures.hpp"
#include "report/summary/sites/sites.hpp"
#include "report/summary/valid.hpp"
#include "sluice/error.hpp"

namespace sluice::report {

namespace {

/// Adds a sorted table to a sorted table; add(a, b) takes rows of equal keys together.
template <class Row, class Key, class Add>
void add_tables(std::vector<Row>& into, std::vector<Row> const& from, Key key, Add add) {
    std::vector<Row> both;
    both.reserve(into.size() + from.size());
    auto a = into.begin();
    auto b = from.begin();
    while (a != into.end() || b != from.end()) {
        if (b == from.end() || (a != into.end() && key(*a) < key(*b))) {
            both.push_back(std::move(*a++));
        } else if (a == into.end() || key(*b) < key(*a)) {
            both.push_back(*b++);
        } else {
            add(*a, *b++);
            both.push_back(std::move(*a++));
        }
    }
    into = std::move(both);
}

/// Marks the `most` rows with the greatest figures.
template <class Row, class Figure>
void mark(std::vector<Row> const& rows, std::size_t most, Figure figure, std::set<std::size_t>& keep) {
    std::vector<std::size_t> order(rows.size());
    for (std::size_t i = 0; i < order.size(); ++i)
        order[i] = i;
    most = std::min(most, order.size());
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(most), order.end(),
                      [&](std::size_t a, std::size_t b) {
                          auto const left = figure(rows[a]);
                          auto const right = figure(rows[b]);
                          return left != right ? left > right : a < b;
                      });
    keep.insert(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(most));
}

/// If there are more than k_sites places, those with much time, memory, bytes or objects stay; the others are added up.
void bound_sites(std::vector<SiteSum>& sites) {
    if (sites.size() <= record::k_sites) return;
    std::set<std::size_t> keep;
    // A place whose waiting is hidden would have the time without that.
    mark(
        sites, 140, [](SiteSum const& s) { return s.time_ns.sum + s.hidden_ns.sum; }, keep);
    mark(
        sites, 60, [](SiteSum const& s) { return s.grown.most + s.in_flight.most; }, keep);
    mark(
        sites, 44, [](SiteSum const& s) { return s.bytes.sum; }, keep);
    mark(
        sites, 10, [](SiteSum const& s) { return s.left.sum; }, keep);
    SiteSum other;
    other.function = "other calls";
    std::vector<SiteSum> kept;
    bool any = false;
    for (std::size_t i = 0; i < sites.size(); ++i) {
        if (keep.contains(i) && sites[i].id != k_other_places) {
            kept.push_back(std::move(sites[i]));
            continue;
        }
        if (any)
            add_site(other, sites[i]);
        else {
            other = sites[i];
            other.id = k_other_places;
            other.function = "other calls";
            other.place.clear();
            other.kind = record::Kind::other;
        }
        any = true;
    }
    kept.insert(kept.begin(), other);  // it has the least id
    sites = std::move(kept);
}

void add_whereabouts(Whereabouts& into, Whereabouts const& from) {
    into.ranks.add(from.ranks);
    into.last_us.add(from.last_us);
    into.since_us.add(from.since_us);
    into.resident_kib.add(from.resident_kib);
    into.awaited.add(from.awaited);
}

/// Keeps the k_sites lowest ids; all other rows are added to the row of other places.
void bound_whereabouts(std::vector<Whereabouts>& rows) {
    if (rows.size() <= record::k_sites) return;
    Whereabouts other;
    other.site = k_other_places;
    other.function = "other calls";
    std::vector<Whereabouts> kept;
    for (Whereabouts& row : rows) {
        if (row.site != k_other_places && kept.size() < record::k_sites - 1)
            kept.push_back(std::move(row));
        else {
            if (other.ranks.count() == 0) other.state = row.state;
            add_whereabouts(other, row);
        }
    }
    kept.insert(std::upper_bound(kept.begin(), kept.end(), k_other_places,
                                 [](std::uint64_t id, Whereabouts const& row) { return id < row.site; }),
                other);
    rows = std::move(kept);
}

void add_growth(GrowthSum& into, GrowthSum const& from) {
    if (from.ranks.count() == 0) return;
    if (into.ranks.count() == 0) {
        into = from;
        return;
    }
    bool const more = from.most.by_kib() != into.most.by_kib() ? from.most.by_kib() > into.most.by_kib()
                                                               : from.most_rank < into.most_rank;
    if (more) {
        into.most = from.most;
        into.most_rank = from.most_rank;
    }
    into.ranks.add(from.ranks);
    into.earliest_us = std::min(into.earliest_us, from.earliest_us);
}

/// One rank of every 24th part of a large job is kept in full, whatever it did; with eight that stand out these are 32.
bool is_regular(std::uint32_t rank, std::uint32_t world_size) {
    constexpr std::uint64_t k_regular = k_full_ranks - 8;
    return rank == 0 || rank * k_regular / world_size != (rank - 1) * k_regular / world_size;
}

void bound_ranks(std::vector<RankDetail>& ranks, std::uint32_t world_size) {
    if (world_size <= k_full_ranks) return;
    std::set<std::size_t> keep;
    mark(
        ranks, 4, [](RankDetail const& r) { return r.peak_kib; }, keep);
    mark(
        ranks, 2, [](RankDetail const& r) { return r.peak_mpi_kib; }, keep);
    mark(
        ranks, 2, [](RankDetail const& r) { return r.waiting_ns; }, keep);
    std::vector<RankDetail> kept;
    for (std::size_t i = 0; i < ranks.size(); ++i)
        if (keep.contains(i) || is_regular(ranks[i].rank, world_size)) kept.push_back(std::move(ranks[i]));
    ranks = std::move(kept);
}

/// Beyond the bound the earliest ends are kept.
void bound_ends(std::vector<EndSum>& ends) {
    if (ends.size() <= k_kept_ends) return;
    std::set<std::size_t> keep;
    mark(
        ends, k_kept_ends, [](EndSum const& e) { return ~e.at_us.least; }, keep);
    std::vector<EndSum> kept;
    kept.reserve(keep.size());
    for (std::size_t const i : keep)
        kept.push_back(std::move(ends[i]));
    ends = std::move(kept);
}

void add_peak(PeakOf& into, PeakOf const& from) {
    if (from.kib > into.kib || (from.kib == into.kib && from.rank < into.rank)) into = from;
}

void add_figures(Summary& into, Summary const& from) {
    for (Figure const& figure : figures())
        (into.*figure.of_ranks).add(from.*figure.of_ranks);
}

void add_sums(Summary& into, Summary const& from) {
    into.start_unix_us = earlier(into.start_unix_us, from.start_unix_us);
    into.duration_us = std::max(into.duration_us, from.duration_us);
    into.ranks_seen += from.ranks_seen;
    into.served_calls += from.served_calls;
    into.served_bytes += from.served_bytes;
    into.passed_on += from.passed_on;
    into.comms_total += from.comms_total;
    into.comms_not_kept += from.comms_not_kept;
    if (from.identity.rank < into.identity.rank) into.identity = from.identity;
    if (into.mpi.empty() || (!from.mpi.empty() && from.mpi < into.mpi)) into.mpi = from.mpi;
    for (std::size_t i = 0; i < k_states; ++i)
        into.states[i].add(from.states[i]);
    for (std::size_t i = 0; i < k_kinds; ++i)
        into.time_by_kind_ns[i] += from.time_by_kind_ns[i];
    for (std::size_t i = 0; i < into.growing.size(); ++i)
        add_growth(into.growing[i], from.growing[i]);
}

}  // namespace

std::uint64_t earlier(std::uint64_t a, std::uint64_t b) {
    return a == 0 || b == 0 ? std::max(a, b) : std::min(a, b);
}

void add_counter_table(std::vector<CounterSum>& into, std::vector<CounterSum> const& from) {
    add_tables(
        into, from, [](CounterSum const& c) { return std::tie(c.service, c.what); },
        [](CounterSum& a, CounterSum const& b) { a.count.add(b.count); });
    if (into.size() > k_kept_counters) into.resize(k_kept_counters);
}

void add_comm_table(std::vector<CommSum>& into, std::vector<CommSum> const& from) {
    auto const key = [](CommSum const& c) { return std::make_tuple(~c.size, c.root, c.number); };
    add_tables(into, from, key, [](CommSum& a, CommSum const& b) {
        if (b.id) a.id = b.id;
        a.site = std::max(a.site, b.site);
        a.memory_kib.add(b.memory_kib);
        a.made_us = earlier(a.made_us, b.made_us);
        a.freed += b.freed;
    });
    if (into.size() > record::k_comms) into.resize(record::k_comms);
}

/// A rank's memory in KiB: what adds up over the ranks of its node, shared memory of which it is not known how many
/// ranks have it, and pages of files, those of Sluice among them.
struct Shares {
    std::uint64_t own, shared, files;
};

/// Of shared memory it is the kernel that knows which ranks share it: a rank has its proportional part, as large as at
/// the reading of it. Where the kernel does not tell, all is the same memory; so is what is more than twice that of the
/// reading, which was of other segments then.
Shares shares_of(record::RankHead const& head, record::Sample const& sample, std::uint32_t segments_kib,
                 std::uint32_t sluice_files_kib) {
    std::uint64_t const files = std::min<std::uint64_t>(
        std::uint64_t{sample.files} + std::min(sluice_files_kib, sample.sluice), sample.resident);
    std::uint64_t const segments =
        std::min<std::uint64_t>(std::max(segments_kib, sample.mpi_shared), sample.resident - files);
    std::uint64_t const rest = sample.resident - files - segments;
    if (head.segments == 0 || head.segments_part == 0) return {rest, segments, files};
    std::uint64_t const known = std::min<std::uint64_t>(segments, 2 * std::uint64_t{head.segments});
    return {rest + known * std::min(head.segments_part, head.segments) / head.segments, segments - known, files};
}

void add_rank(NodeSum& sum, record::RankRecord const& record) {
    std::vector<record::Sample> const samples = samples_of(record);
    record::Sample const last = samples.empty() ? record.head.peak : samples.back();
    record::Sample const& peak = record.head.peak;
    // At the end only the code of Sluice is among the files, because it is there once: each rank has its own record.
    Shares const at_end = shares_of(record.head, last, record.head.segments_now, record.head.sluice_code);
    Shares const at_peak = shares_of(record.head, peak, record.head.peak_segments, record.head.peak_sluice_files);
    if (sum.ranks++ == 0) text_of(record.head.host).copy(sum.host.data(), sum.host.size() - 1);
    sum.processors = std::max(sum.processors, record.head.processors);
    if (record.head.memory_limit > 0)
        sum.limit = sum.limit == 0 ? record.head.memory_limit : std::min(sum.limit, record.head.memory_limit);
    sum.asked = std::max(sum.asked, record.head.asked_memory);
    sum.last_own_kib += at_end.own;
    sum.last_shared_kib = std::max(sum.last_shared_kib, at_end.shared + at_end.files);
    sum.peaks_own_kib += at_peak.own;
    sum.peaks_shared_kib = std::max(sum.peaks_shared_kib, at_peak.shared);
    sum.peaks_kib += peak.resident;
    sum.peaks_files_kib += at_peak.files;
    sum.most_kib = std::max(sum.most_kib, peak.resident - at_peak.files);
}

void add_node(Summary& summary, NodeSum const& node) {
    summary.nodes.push_back(node);
    // The fullest nodes come first; without a limit, the largest ones.
    auto const order = [](NodeSum const& n) {
        double const full = n.limit == 0 ? 0.0 : static_cast<double>(n.last_kib()) / static_cast<double>(n.limit);
        return std::make_tuple(-full, ~n.last_kib(), n.node);
    };
    std::sort(summary.nodes.begin(), summary.nodes.end(),
              [&order](NodeSum const& a, NodeSum const& b) { return order(a) < order(b); });
    if (summary.nodes.size() > k_nodes) summary.nodes.resize(k_nodes);
}

void merge(Summary& into, Summary const& from) {
    if (from.ranks_seen == 0 && from.nodes.empty()) return;
    if (into.world_size == 0) {
        std::vector<NodeSum> const nodes = std::move(into.nodes);
        into = from;
        for (NodeSum const& node : nodes)
            add_node(into, node);
        return;
    }
    if (from.world_size != 0 && into.world_size != from.world_size)
        throw Error(ErrorCode::invalid_argument, "reports of " + std::to_string(into.world_size) + " and of " +
                                                     std::to_string(from.world_size) + " ranks are of two jobs");
    if (into.ranks_seen == 0)
        into.highest = from.highest;
    else if (from.ranks_seen > 0)
        add_peak(into.highest, from.highest);
    add_sums(into, from);
    add_figures(into, from);
    add_tables(
        into.sites, from.sites, [](SiteSum const& s) { return s.id; }, add_site);
    bound_sites(into.sites);
    add_tables(
        into.matrix, from.matrix, [](Cell const& c) { return std::make_pair(c.from, c.to); },
        [](Cell& a, Cell const& b) {
            a.bytes += b.bytes;
            a.messages += b.messages;
        });
    add_comm_table(into.comms, from.comms);
    add_counter_table(into.counters, from.counters);
    add_tables(
        into.objects, from.objects, [](ObjectSum const& o) { return o.kind; }, add_objects);
    add_tables(
        into.ends, from.ends, [](EndSum const& e) { return std::tie(e.how, e.code); },
        [](EndSum& a, EndSum const& b) { a.add(b); });
    bound_ends(into.ends);
    add_tables(
        into.now, from.now, [](Whereabouts const& w) { return std::make_pair(w.site, w.state); }, add_whereabouts);
    bound_whereabouts(into.now);
    add_tables(
        into.ranks, from.ranks, [](RankDetail const& r) { return r.rank; }, [](RankDetail&, RankDetail const&) {});
    bound_ranks(into.ranks, into.world_size);
    into.resident_over_ranks.add(from.resident_over_ranks);
    into.mpi_over_ranks.add(from.mpi_over_ranks);
    for (NodeSum const& node : from.nodes)
        add_node(into, node);
}

}  // namespace sluice::report
