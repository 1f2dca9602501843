// SPDX-License-Identifier: BSD-3-Clause
#include "report/read/sum_contradictions.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "report/summary/figures/figures.hpp"
#include "report/summary/growth.hpp"
#include "report/summary/memory_curve.hpp"
#include "report/summary/sites/site_figures.hpp"

namespace sluice::report {

namespace {

/// What the kernel adds up for each thread in batches makes two readings of the same memory differ by some hundred KiB.
constexpr std::uint64_t k_near_kib = 1024;
constexpr std::uint64_t k_no_bound_kib = std::uint64_t{1} << 43;
constexpr std::uint64_t k_below_0 = std::uint64_t{1} << 63;

/// least <= mean <= most; without ranks all is 0.
bool is_whole(Spread const& spread) {
    if (spread.ranks == 0) return spread == Spread{};
    std::uint64_t const mean = spread.sum / spread.ranks;
    bool const is_exact = mean * spread.ranks == spread.sum;
    return spread.most <= spread.sum && spread.least <= mean && (is_exact ? mean <= spread.most : mean < spread.most);
}

std::uint64_t others_of(record::Sample const& sample) {
    return std::uint64_t{sample.mpi_private} + sample.mpi_shared + sample.files + sample.sluice;
}

std::string name_of_place(SiteSum const& site) {
    return site.place.empty() ? site.function : site.function + " at " + site.place;
}

class JobContradictions {
  public:
    explicit JobContradictions(Summary const& summary) : summary_(summary) {}

    std::vector<std::string> take() {
        look_at_spreads();
        look_at_peaks();
        look_at_ranks();
        look_at_nodes();
        look_at_objects();
        for (SiteSum const& site : summary_.sites) {
            look_at_memory(site);
            look_at_counts(site);
        }
        if (summary_.all_ended()) {
            look_at_sums();
            look_at_matrix();
        }
        return std::move(said_);
    }

  private:
    /// One line of each kind says enough.
    template <class... Figures>
    void unless(bool agrees, char const* kind, fmt::format_string<Figures const&...> text, Figures const&... figures) {
        if (!agrees && kinds_.insert(kind).second) said_.push_back(fmt::format(text, figures...));
    }

    void look_at(Spread const& spread, std::string const& name, std::uint64_t most_ranks) {
        unless(spread.sum < k_below_0 && spread.most < k_below_0, "below 0", "{} is {} at most, of {}", name,
               static_cast<std::int64_t>(spread.most), static_cast<std::int64_t>(spread.sum));
        bool const of_ranks = spread.ranks <= most_ranks && spread.least_rank < summary_.world_size &&
                              spread.most_rank < summary_.world_size;
        unless(is_whole(spread) && of_ranks, "spread", "{} of {} ranks of {}: {} to {}, together {}", name,
               spread.ranks, most_ranks, spread.least, spread.most, spread.sum);
    }

    void look_at_spreads() {
        std::uint64_t const ranks = summary_.ranks_seen;
        for (Figure const& figure : figures())
            look_at(summary_.*figure.of_ranks, figure.name, ranks);
        for (SiteSum const& site : summary_.sites) {
            // The row of other places adds up several of each rank.
            std::uint64_t const most = site.id == k_other_places ? k_below_0 : ranks;
            for (SpreadOfSite const& figure : k_spreads_of_site)
                look_at(site.*figure.spread, fmt::format("{} of {}", figure.name, name_of_place(site)), most);
        }
        for (ObjectSum const& objects : summary_.objects)
            for (Spread const* const spread : {&objects.made, &objects.left, &objects.grown})
                look_at(*spread, fmt::format("a figure of each {}", name_of(objects.kind)), ranks);
        for (CounterSum const& counter : summary_.counters)
            look_at(counter.count, counter.service + ": " + counter.what, ranks);
        std::uint64_t in_states = 0;
        for (RankSet const& state : summary_.states)
            in_states += state.count();
        unless(in_states == ranks, "states", "{} ranks are in a state, and {} left a record", in_states, ranks);
    }

    void look_at(record::Sample const& sample, std::uint32_t rank) {
        std::uint64_t const others = others_of(sample);
        unless(others <= sample.resident, "parts", "rank {} had {} KiB at {} µs, and MPI, files and Sluice {}", rank,
               sample.resident, sample.time_us, others);
        if (others <= sample.resident)
            unless(sample.in_flight <= sample.resident - others, "in flight",
                   "rank {} had {} KiB in flight at {} µs, of {} KiB of the application", rank, sample.in_flight,
                   sample.time_us, sample.resident - others);
    }

    void look_at_peaks() {
        Summary const& s = summary_;
        PeakOf const& highest = s.highest;
        look_at(highest.sample, highest.rank);
        unless(highest.kib == s.peak_kib.most && highest.kib == highest.sample.resident, "highest",
               "the highest peak is {} KiB, of a sample with {}, and the most of the peaks {}", highest.kib,
               highest.sample.resident, s.peak_kib.most);
        unless(highest.sluice_fixed_kib <= highest.sample.sluice && s.sluice_fixed_kib.sum <= s.sluice_kib.sum, "fixed",
               "Sluice has {} KiB of the highest peak, its fixed part {}", highest.sample.sluice,
               highest.sluice_fixed_kib);
        std::uint64_t const parts =
            s.application_kib.sum + s.mpi_private_kib.sum + s.mpi_shared_kib.sum + s.files_kib.sum + s.sluice_kib.sum;
        unless(parts == s.peak_kib.sum, "owners", "the peaks are {} KiB, and the parts of the owners {}",
               s.peak_kib.sum, parts);
        unless(s.in_flight_kib.sum <= s.application_kib.sum, "in flight",
               "{} KiB were in flight at the peaks, of {} KiB of the applications", s.in_flight_kib.sum,
               s.application_kib.sum);
        unless(s.last_kib.sum <= s.peak_kib.sum && s.last_kib.most <= s.peak_kib.most, "last",
               "the last samples have {} KiB, the peaks {}", s.last_kib.sum, s.peak_kib.sum);
        unless(s.waiting_ns.sum <= s.time_in_mpi_ns.sum && s.init_ns.sum <= s.time_in_mpi_ns.sum, "times",
               "the ranks waited for {} ns, were in MPI_Init for {} and in MPI for {}", s.waiting_ns.sum, s.init_ns.sum,
               s.time_in_mpi_ns.sum);
    }

    void look_at_ranks() {
        for (RankDetail const& rank : summary_.ranks) {
            for (record::Sample const& sample : rank.curve) {
                look_at(sample, rank.rank);
                unless(sample.resident <= rank.peak_kib, "curve", "rank {} had {} KiB at {} µs, at its peak {} KiB",
                       rank.rank, sample.resident, sample.time_us, rank.peak_kib);
            }
            unless(rank.peak_kib <= summary_.peak_kib.most && rank.peak_mpi_kib <= rank.peak_kib, "peak of a rank",
                   "rank {} had {} KiB at its peak, MPI {} there, and no rank more than {}", rank.rank, rank.peak_kib,
                   rank.peak_mpi_kib, summary_.peak_kib.most);
            unless(rank.waiting_ns <= rank.time_in_mpi_ns, "waiting of a rank",
                   "rank {} waited for {} ns, and was in MPI for {}", rank.rank, rank.waiting_ns, rank.time_in_mpi_ns);
        }
    }

    void look_at_nodes() {
        std::uint64_t ranks = 0, peaks_kib = 0, most_need_kib = 0;
        for (NodeSum const& node : summary_.nodes) {
            unless(node.need_kib() + node.peaks_files_kib <= node.peaks_kib, "need",
                   "node {} needs {} KiB beside {} KiB of files, and the peaks of its ranks are {}", node.node,
                   node.need_kib(), node.peaks_files_kib, node.peaks_kib);
            ranks += node.ranks;
            peaks_kib += node.peaks_kib;
            most_need_kib = std::max(most_need_kib, node.need_kib());
        }
        if (summary_.nodes.empty() || summary_.nodes.size() == k_nodes) return;  // some may have found no row
        unless(ranks == summary_.ranks_seen && peaks_kib == summary_.peak_kib.sum, "nodes",
               "{} ranks are on nodes, with peaks of {} KiB, and {} left a record, with {}", ranks, peaks_kib,
               summary_.ranks_seen, summary_.peak_kib.sum);
        record::Sample const& highest = summary_.highest.sample;
        std::uint64_t const apart = std::uint64_t{highest.files} + highest.sluice;
        unless(most_need_kib + apart + k_near_kib >= highest.resident, "need of one",
               "no node needs more than {} KiB, and rank {} had {} KiB beside files and Sluice", most_need_kib,
               summary_.highest.rank, highest.resident - std::min<std::uint64_t>(apart, highest.resident));
    }

    void look_at_objects() {
        for (ObjectSum const& objects : summary_.objects) {
            unless(objects.left.sum <= objects.made.sum && objects.left.most <= objects.made_there &&
                       objects.made_there <= objects.made.most,
                   "objects", "of {} objects ({}) {} were not freed, {} of {} on one rank", objects.made.sum,
                   name_of(objects.kind), objects.left.sum, objects.left.most, objects.made_there);
            unless(objects.estimated <= objects.grown.sum, "estimate",
                   "making objects ({}) took {} bytes, of which {} are estimated", name_of(objects.kind),
                   objects.grown.sum, objects.estimated);
            unless(objects.grown.most <= (peak_of(objects.grown.most_rank) + k_near_kib) << 10, "grown",
                   "making objects ({}) took {} bytes on rank {}, whose peak is {} KiB", name_of(objects.kind),
                   objects.grown.most, objects.grown.most_rank, peak_of(objects.grown.most_rank));
            std::uint64_t made = 0, left = 0;
            for (SiteSum const& site : summary_.sites) {
                if (site.id == k_other_places || site.object != objects.kind) continue;
                made += site.made;
                left += site.left.sum;
            }
            unless(made <= objects.made.sum && left <= objects.left.sum, "objects of places",
                   "the places made {} objects ({}) and left {}, the ranks {} and {}", made, name_of(objects.kind),
                   left, objects.made.sum, objects.left.sum);
        }
    }

    RankDetail const* detail_of(std::uint32_t rank) const {
        auto const found = std::find_if(summary_.ranks.begin(), summary_.ranks.end(),
                                        [rank](RankDetail const& detail) { return detail.rank == rank; });
        return found != summary_.ranks.end() ? &*found : nullptr;
    }

    /// A rank whose memory was not watched has a peak of 0, which bounds nothing.
    static std::uint64_t bound_of(std::uint64_t kib) noexcept { return kib > 0 ? kib : k_no_bound_kib; }

    /// In KiB; of a rank that is not kept in full, that of the highest.
    std::uint64_t peak_of(std::uint32_t rank) const {
        RankDetail const* const detail = detail_of(rank);
        return bound_of(detail != nullptr ? detail->peak_kib : summary_.peak_kib.most);
    }

    void look_at_memory(SiteSum const& site) {
        if (site.id == k_other_places) return;
        std::uint64_t const peak = peak_of(site.grown.most_rank);
        unless(site.grown.most <= (peak + k_near_kib) << 10, "grown",
               "{} took {} bytes on rank {}, whose peak is {} KiB", name_of_place(site), site.grown.most,
               site.grown.most_rank, peak);
        unless(site.estimated <= site.grown.sum, "estimate", "{} took {} bytes, of which {} are estimated",
               name_of_place(site), site.grown.sum, site.estimated);
        RankDetail const* const detail = detail_of(site.in_flight.most_rank);
        std::uint64_t const most = bound_of(detail != nullptr ? most_of_application(detail->curve, detail->peak_kib)
                                                              : site.in_flight_peak_kib);
        unless(site.in_flight.most <= most << 10, "in flight of a place",
               "{} had {} bytes in flight on rank {}, whose application had at most {} KiB", name_of_place(site),
               site.in_flight.most, site.in_flight.most_rank, most);
    }

    void look_at_counts(SiteSum const& site) {
        unless(site.waiting_ns.sum <= site.time_ns.sum && site.waiting_ns.most <= site.time_ns.most &&
                   site.longest_ns.most <= site.time_ns.most,
               "waiting", "{} took {} ns on a rank, of which {} waiting, and one call {}", name_of_place(site),
               site.time_ns.most, site.waiting_ns.most, site.longest_ns.most);
        unless(site.left.sum <= site.made, "left", "{} made {} objects, of which {} were not freed",
               name_of_place(site), site.made, site.left.sum);
        unless(site.bytes_out + site.bytes_in == site.bytes.sum, "bytes",
               "{} sent {} bytes and received {}, together {}", name_of_place(site), site.bytes_out, site.bytes_in,
               site.bytes.sum);
        unless(std::max({site.in_place, site.other_buffers, site.deferred}) <= site.calls, "calls",
               "{} was called {} times, {} in place, {} with another buffer, {} returned early", name_of_place(site),
               site.calls, site.in_place, site.other_buffers, site.deferred);
        unless(site.first_us <= site.last_us, "first and last", "{} was called first at {} µs and last at {}",
               name_of_place(site), site.first_us, site.last_us);
    }

    void look_at_sums() {
        std::uint64_t ns = 0, waiting_ns = 0, kinds_ns = 0;
        for (SiteSum const& site : summary_.sites) {
            ns += site.time_ns.sum;
            waiting_ns += site.waiting_ns.sum;
        }
        for (std::uint64_t const of_kind : summary_.time_by_kind_ns)
            kinds_ns += of_kind;
        unless(ns == kinds_ns && ns == summary_.time_in_mpi_ns.sum, "time of places",
               "the places took {} ns, the kinds of calls {}, and the ranks were in MPI for {}", ns, kinds_ns,
               summary_.time_in_mpi_ns.sum);
        unless(waiting_ns == summary_.waiting_ns.sum, "waiting of places",
               "the places waited for {} ns, the ranks for {}", waiting_ns, summary_.waiting_ns.sum);
    }

    /// What one call adds to the matrix, it hands over or has room for. That as much comes as left cannot be asked: a
    /// rank may give more room than is sent to it.
    void look_at_matrix() {
        std::uint64_t moved = 0, handed = 0;
        for (Cell const& cell : summary_.matrix)
            moved += cell.bytes;
        for (SiteSum const& site : summary_.sites)
            handed += site.bytes_out + site.bytes_in;
        unless(moved <= handed, "matrix", "{} bytes went from rank to rank, and {} left and came at the places", moved,
               handed);
    }

    Summary const& summary_;
    std::set<std::string_view> kinds_;
    std::vector<std::string> said_;
};

}  // namespace

std::vector<std::string> contradictions_of(Summary const& summary) {
    if (summary.may_run()) return {};
    return JobContradictions(summary).take();
}

std::string line_of_contradiction(std::string_view whose, std::string_view contradiction) {
    return fmt::format("a fault of Sluice, please report it: figures of {} contradict each other: {}", whose,
                       contradiction);
}

std::vector<std::string> lines_of_contradictions(Summary const& summary) {
    std::vector<std::string> lines;
    for (std::string const& contradiction : contradictions_of(summary))
        lines.push_back(line_of_contradiction("the job", contradiction));
    return lines;
}

}  // namespace sluice::report
