// SPDX-License-Identifier: BSD-3-Clause
#include "report/summary/summary.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <utility>

#include "base/hash.hpp"
#include "record/evidence.hpp"
#include "report/summary/figures/figures.hpp"
#include "report/summary/matrix.hpp"
#include "report/summary/merge.hpp"
#include "report/summary/sites/sites.hpp"
#include "report/summary/valid.hpp"
#include "sluice/error.hpp"

namespace sluice::report {

namespace {

/// Calls that make objects are measured exactly, and are too short for samples to see: what they took, samples find in
/// the calls around them.
void leave_out_objects(record::RankRecord const& record, std::vector<record::Sample> const& samples,
                       std::vector<std::uint64_t>& sampled_kib) {
    std::uint64_t of_objects = 0;
    for (record::ObjectCount const& count : record.head.objects)
        of_objects += count.grown >> 10;
    if (samples.empty() || of_objects == 0) return;
    auto const of_mpi = [](record::Sample const& s) { return std::uint64_t{s.mpi_private} + s.mpi_shared; };
    std::uint64_t const begun = of_mpi(samples.front());
    std::uint64_t const grown = of_mpi(samples.back()) - std::min(begun, of_mpi(samples.back()));
    std::uint64_t const others = grown - std::min(grown, of_objects);
    for (std::uint64_t& kib : sampled_kib)
        kib = std::min(kib, others);
}

/// What its calls can have taken, in KiB. If hardly any was measured, a site that has nine tenths of the time in MPI
/// after MPI_Init may have taken everything, and any other nothing.
std::uint64_t most_taken_kib(record::Site const& site, std::uint64_t time_ns) {
    if (auto const most = record::most_taken(site.calls, site.read_calls, site.read_bytes)) return *most >> 10;
    return site.time_ns / 9 >= time_ns / 10 ? std::numeric_limits<std::uint64_t>::max() : 0;
}

std::vector<SampledSite> sampled_sites(record::RankRecord const& record, OpenCall const& open) {
    std::uint64_t time_ns = 0;
    for (record::Site const& site : record.sites)
        if (site.kind != record::Kind::setup) time_ns += site.time_ns;
    std::vector<SampledSite> sites;
    sites.reserve(record::k_sites);
    for (record::Site const& site : record.sites)
        sites.push_back({site.calls > 0 ? site.time_ns / site.calls / 1000 : 0, most_taken_kib(site, time_ns)});
    if (open.site < sites.size()) sites[open.site].mean_us = std::max(sites[open.site].mean_us, open.ns / 1000);
    return sites;
}

/// Several addresses may be one place, and each had its most at another time; memory that was given back elsewhere may
/// still be counted. A place has never held more than its rank.
void bound_growth(Summary& summary, record::RankHead const& head) {
    if (head.peak.resident == 0) return;
    std::uint64_t const most = std::uint64_t{head.peak.resident} << 10;
    for (SiteSum& site : summary.sites) {
        if (site.grown.most > most) site.grown = Spread::of(most, head.world_rank);
        site.estimated = std::min(site.estimated, site.grown.sum);
    }
}

/// Adds the calls of one rank; ids[i] is the id of its site i, or k_outside if the site is unused.
void add_sites(Summary& summary, record::RankRecord const& record, Scope const& scope,
               std::vector<record::Sample> const& samples, std::vector<record::Sample> const& curve,
               std::vector<std::uint64_t>& ids) {
    OpenCall const open = open_call_of(record);
    std::vector<std::uint64_t> sampled = sampled_growth(samples, sampled_sites(record, open));
    leave_out_objects(record, samples, sampled);
    std::optional<Growth> const steady = steady_growth(samples, Owner::mpi_private);
    std::size_t const grower =
        static_cast<std::size_t>(std::max_element(sampled.begin(), sampled.end()) - sampled.begin());
    std::uint64_t const used = std::min<std::uint64_t>(record.head.sites, record::k_sites);
    std::uint64_t const peak_kib = record.head.peak.resident;
    std::uint64_t const application = most_of_application(curve, peak_kib) << 10;
    ids.assign(record::k_sites, k_outside);
    for (std::uint64_t i = 0; i < used; ++i) {
        record::Site site = record.sites[i];
        if (i == open.site) {
            site.time_ns += open.ns;
            site.waiting_ns += open.waiting_ns;
            site.longest_ns = std::max(site.longest_ns, open.ns);
        }
        // Pages that were never written are in no memory, also when they are sent.
        if (peak_kib > 0) site.in_flight_peak = std::min(site.in_flight_peak, application);
        bool const other = i == 0 && site.address == 0;
        if (site.calls == 0 && (other || site.address == 0)) continue;
        SiteSum sum = site_sum(site, scope, record.head.world_rank, other);
        sum.in_flight_peak_kib = peak_kib;
        if (sampled[i] << 10 > sum.grown.most) {
            sum.estimated += (sampled[i] << 10) - sum.grown.most;
            sum.grown = Spread::of(sampled[i] << 10, record.head.world_rank);
            if (i == grower && steady && sum.growing_since_us == 0) {
                sum.growing_since_us = std::max<std::uint64_t>(steady->since_us, 1);
                sum.growing_ranks = 1;
            }
        }
        ids[i] = sum.id;
        summary.time_by_kind_ns[kind_index(site.kind)] += site.time_ns;
        auto const same = std::find_if(summary.sites.begin(), summary.sites.end(),
                                       [&sum](SiteSum const& other_sum) { return other_sum.id == sum.id; });
        if (same == summary.sites.end())
            summary.sites.push_back(sum);
        else
            add_same_rank(*same, sum);
    }
    bound_growth(summary, record.head);
    std::sort(summary.sites.begin(), summary.sites.end(),
              [](SiteSum const& a, SiteSum const& b) { return a.id < b.id; });
}

SiteSum const* site_at(Summary const& summary, std::vector<std::uint64_t> const& ids, std::uint32_t index) {
    return index < ids.size() && ids[index] != k_outside ? summary.site(ids[index]) : nullptr;
}

void add_figures(Summary& summary, record::RankRecord const& record) {
    record::RankHead const& head = record.head;
    for (Figure const& figure : figures())
        summary.*figure.of_ranks = Spread::of(figure.of(record), head.world_rank);
    summary.served_calls = head.served_calls;
    summary.served_bytes = head.served_bytes;
    summary.passed_on = head.passed_on;
    summary.comms_not_kept = head.comms_not_kept;
    summary.comms_total = head.comms_led;
    summary.objects = objects_of(record);
}

void add_comms(Summary& summary, record::RankRecord const& record, Scope const& scope,
               std::vector<std::uint64_t> const& ids) {
    std::uint32_t const rank = record.head.world_rank;
    std::uint64_t const used = std::min<std::uint64_t>(record.head.comms, record::k_comms);
    std::uint64_t next_of_several = scope.comms_before.several;
    std::uint64_t next_alone = scope.comms_of_several + scope.comms_before.alone;
    for (std::uint64_t i = 0; i < used; ++i) {
        record::Comm const& comm = record.comms[i];
        CommSum sum{comm.root, comm.number, comm.size, comm.first, comm.stride, {}, k_outside, {}, 0, 0};
        if (comm.rank == 0) {
            sum.id = comm.size > 1 ? next_of_several++ : next_alone++;
            ++summary.comms_total;
        }
        if (comm.site < ids.size()) sum.site = ids[comm.site];
        sum.memory_kib = Spread::of(comm.memory_kib, rank);
        sum.made_us = comm.made_us;
        sum.freed = comm.freed_us > 0 ? 1 : 0;
        add_comm_table(summary.comms, {sum});
    }
}

void add_counters(Summary& summary, record::RankRecord const& record) {
    for (std::uint64_t i = 0; i < record.head.counters; ++i) {
        record::Counter const& counter = record.counters[i];
        add_counter_table(summary.counters, {{text_of(counter.service), text_of(counter.what),
                                              Spread::of(counter.value, record.head.world_rank)}});
    }
}

void add_growth(Summary& summary, record::RankRecord const& record, std::vector<record::Sample> const& samples) {
    for (Owner const owner : k_owners) {
        bool const was_ended = record.head.state == record::State::gone;
        std::optional<Growth> const growth = was_ended ? climb(samples, owner) : steady_growth(samples, owner);
        if (!growth) continue;
        std::uint32_t const rank = record.head.world_rank;
        summary.growing[static_cast<std::size_t>(owner)] = {RankSet(rank), rank, *growth, growth->since_us};
    }
}

/// Returns the longest calls and the newest ones, by time.
std::vector<record::Event> events_of(record::RankRecord const& record) {
    std::uint64_t const written = record.head.events;
    std::uint64_t const kept = std::min<std::uint64_t>(written, record::k_events);
    std::vector<record::Event> events;
    for (std::uint64_t i = written - kept; i < written; ++i)
        events.push_back(record.events[i % record::k_events]);
    if (events.size() > k_kept_events) {
        auto const newest = events.end() - static_cast<std::ptrdiff_t>(k_kept_events / 4);
        auto const last_of_longest = events.begin() + static_cast<std::ptrdiff_t>(k_kept_events - k_kept_events / 4);
        std::nth_element(events.begin(), last_of_longest, newest,
                         [](record::Event const& a, record::Event const& b) { return a.duration_us > b.duration_us; });
        events.erase(last_of_longest, newest);
    }
    std::stable_sort(events.begin(), events.end(),
                     [](record::Event const& a, record::Event const& b) { return a.start_us < b.start_us; });
    return events;
}

/// Returns the rank that this one waits for.
std::uint32_t awaited_by(record::RankHead const& head) {
    bool const known = head.current_site != record::k_no_site && head.awaited < head.world_size;
    return known ? head.awaited : record::k_no_rank;
}

RankDetail detail_of(record::RankRecord const& record, std::vector<std::uint64_t> const& ids,
                     std::vector<record::Sample> const& samples, std::vector<record::Sample> curve) {
    record::RankHead const& head = record.head;
    RankDetail detail;
    detail.rank = head.world_rank;
    detail.state = head.state;
    detail.peak_kib = head.peak.resident;
    for (record::Sample const& sample : samples)
        detail.peak_mpi_kib = std::max(detail.peak_mpi_kib, std::uint64_t{sample.mpi_private} + sample.mpi_shared);
    OpenCall const open = open_call_of(record);
    detail.waiting_ns = head.waiting_ns + open.waiting_ns;
    detail.time_in_mpi_ns = head.time_in_mpi_ns + open.ns;
    detail.init_ns = init_ns_of(record);
    detail.now_us = std::max(head.now_us, head.end_us);
    if (!samples.empty()) detail.last = samples.back();
    if (head.current_site < ids.size()) detail.current_site = ids[head.current_site];
    detail.current_since_us = head.current_since_us;
    detail.awaited = awaited_by(head);
    detail.curve = std::move(curve);
    detail.events = events_of(record);
    // Only sites that are referred to are named, in the order of the first reference.
    std::vector<std::uint32_t> local(record::k_sites, record::k_no_site);
    auto const rename = [&](std::uint32_t& site) {
        if (site >= record::k_sites || ids[site] == k_outside) {
            site = record::k_no_site;
            return;
        }
        if (local[site] == record::k_no_site) {
            local[site] = static_cast<std::uint32_t>(detail.site_ids.size());
            detail.site_ids.push_back(ids[site]);
        }
        site = local[site];
    };
    for (record::Sample& sample : detail.curve)
        rename(sample.site);
    for (record::Event& event : detail.events)
        rename(event.site);
    rename(detail.last.site);
    return detail;
}

/// Returns true if the last call is of interest: after an orderly end it is not.
bool was_going_on(record::State state) {
    return state != record::State::ended && state != record::State::exited;
}

void add_whereabouts(Summary& summary, record::RankRecord const& record, std::vector<std::uint64_t> const& ids,
                     std::vector<record::Sample> const& samples, Scope const& scope) {
    record::RankHead const& head = record.head;
    if (!was_going_on(head.state)) return;
    Whereabouts here;
    here.state = head.state;
    std::uint64_t const late = scope.start_unix_us == 0 || head.start_unix_us < scope.start_unix_us
                                   ? 0
                                   : head.start_unix_us - scope.start_unix_us;
    here.last_us = Spread::of(late + std::max(head.now_us, head.end_us), head.world_rank);
    if (SiteSum const* const site = site_at(summary, ids, head.current_site)) {
        here.site = site->id;
        here.function = site->function;
        here.place = site->place;
    }
    // Outside MPI the time counts from the end of the last call.
    bool const known = head.current_since_us > 0 && head.now_us >= head.current_since_us;
    here.since_us = Spread::of(known ? head.now_us - head.current_since_us : 0, head.world_rank);
    here.ranks = RankSet(head.world_rank);
    if (std::uint32_t const awaited = awaited_by(head); awaited != record::k_no_rank)
        here.awaited = Spread::of(awaited, head.world_rank);
    here.resident_kib = Spread::of(samples.empty() ? 0 : samples.back().resident, head.world_rank);
    summary.now.push_back(here);
}

void add_end(Summary& summary, record::RankHead const& head, std::vector<std::uint64_t> const& ids,
             Scope const& scope) {
    std::optional<RankEnd> const end = end_of(head);
    if (!end) return;
    EndSum sum;
    sum.how = end->how;
    sum.code = end->code;
    sum.ranks = RankSet(head.world_rank);
    sum.own = {head.own_limit, head.own_used, head.own_limit_is_address_space};
    if (head.end_seen.seen != 0 && head.end_seen.memory_kills >= 0)
        sum.memory_kills = Spread::of(static_cast<std::uint64_t>(head.end_seen.memory_kills), head.world_rank);
    std::uint64_t const start = scope.start_unix_us == 0 ? head.start_unix_us : scope.start_unix_us;
    sum.at_us = Spread::of(end->unix_us - std::min(start, end->unix_us), head.world_rank);
    if (SiteSum const* const site = site_at(summary, ids, head.current_site)) {
        sum.function = site->function;
        sum.place = site->place;
    }
    summary.ends.push_back(std::move(sum));
}

std::uint32_t resident(record::Sample const& sample) {
    return sample.resident;
}

std::uint32_t of_mpi(record::Sample const& sample) {
    std::uint64_t const both = std::uint64_t{sample.mpi_private} + sample.mpi_shared;
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(both, 0xffff'ffff));
}

void add_peak(Summary& summary, record::RankRecord const& record, std::vector<record::Sample> const& samples,
              std::vector<std::uint64_t> const& ids) {
    PeakOf& peak = summary.highest;
    peak.rank = record.head.world_rank;
    peak.kib = summary.peak_kib.most;
    peak.sample = record.head.peak;
    peak.sluice_fixed_kib = record.head.peak_sluice_fixed;
    if (!samples.empty()) peak.kept_mpi_kib = of_mpi(samples.back());
    peak.seen = checked(record.head.peak_seen);
    if (SiteSum const* const site = site_at(summary, ids, peak.sample.site)) {
        peak.function = site->function;
        peak.place = site->place;
    }
    peak.sample.site = record::k_no_site;
}

}  // namespace

std::uint64_t site_id(std::string_view function, std::string_view place) {
    std::uint64_t const hash = base::Fnv1a().add(function).add(static_cast<unsigned char>('\0')).add(place).value();
    return std::max<std::uint64_t>((hash ^ (hash >> 52)) & ((std::uint64_t{1} << 52) - 1), k_other_places + 1);
}

CommCounts rooted_comms(record::RankRecord const& record) {
    CommCounts result;
    std::uint64_t const used = std::min<std::uint64_t>(record.head.comms, record::k_comms);
    for (std::uint64_t i = 0; i < used; ++i)
        if (record.comms[i].rank == 0) ++(record.comms[i].size > 1 ? result.several : result.alone);
    return result;
}

SiteSum const* Summary::site(std::uint64_t id) const {
    auto const found =
        std::lower_bound(sites.begin(), sites.end(), id, [](SiteSum const& a, std::uint64_t b) { return a.id < b; });
    return found != sites.end() && found->id == id ? &*found : nullptr;
}

Summary summary_of(record::RankRecord const& record, Scope const& scope) {
    record::RankHead const& head = record.head;
    if (std::string const why = fault_of(head); !why.empty()) throw Error(ErrorCode::invalid_argument, why);
    Summary summary;
    summary.world_size = head.world_size;
    summary.mpi = text_of(head.mpi);
    summary.identity = {head.world_rank, text_of(head.user), text_of(head.command)};
    summary.start_unix_us = head.start_unix_us;
    summary.duration_us = std::max(head.now_us, head.end_us);
    summary.ranks_seen = 1;
    summary.states[static_cast<std::size_t>(head.state)] = RankSet(head.world_rank);

    std::vector<std::uint64_t> ids;
    std::vector<record::Sample> const samples = samples_of(record);
    std::vector<record::Sample> curve = curve_of(record);
    add_sites(summary, record, scope, samples, curve, ids);
    add_figures(summary, record);
    add_peak(summary, record, samples, ids);
    add_comms(summary, record, scope, ids);
    add_counters(summary, record);
    summary.matrix = cells_of(record);
    add_whereabouts(summary, record, ids, samples, scope);
    add_end(summary, head, ids, scope);
    add_growth(summary, record, samples);
    summary.ranks.push_back(detail_of(record, ids, samples, std::move(curve)));
    if (head.world_size > k_full_ranks) {
        std::uint64_t const width = OverRanks::width_for(std::max(scope.duration_us, summary.duration_us));
        summary.resident_over_ranks = OverRanks::of(samples, width, resident);
        summary.mpi_over_ranks = OverRanks::of(samples, width, of_mpi);
    }
    return summary;
}

}  // namespace sluice::report
