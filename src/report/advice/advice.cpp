// SPDX-License-Identifier: BSD-3-Clause
#include "report/advice/advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/units.hpp"
#include "report/advice/advice_on_calls.hpp"
#include "report/advice/advice_on_objects.hpp"
#include "report/advice/kinds_of_calls.hpp"
#include "report/advice/largest_site.hpp"
#include "report/show/times.hpp"
#include "report/show/words.hpp"

namespace sluice::report {

namespace {

constexpr std::uint64_t k_mib = 1 << 20;
constexpr std::size_t k_most_advice = 6;
constexpr std::uint64_t k_least_unplaced = 1 << 20;
// Launchers of two ranks on one node had 5 to 8 MiB.
constexpr std::uint64_t k_least_beside_kib = 16 << 10;

/// A send has no other rank in its name, but it waits for one.
std::string what_it_waits_for(SiteSum const& site) {
    if (site.kind != record::Kind::send || starts_request(site)) return {};
    return ", which returns when its receiver has begun to take the message";
}

/// Ranks of a job that did not end have not yet done their share.
std::string about_waiting(Summary const& summary) {
    Spread const& waiting = summary.waiting_ns;
    double const lived = ns_after_init(summary);
    if (!summary.all_ended() || waiting.ranks < 2 || static_cast<double>(waiting.sum) < 0.25 * lived) return {};
    std::string text;
    std::string const crowd = crowded_text(summary);
    if (!crowd.empty()) text = crowd + ", so a rank also waits while others use its processor. ";
    text += fmt::format("The ranks wait for each other during {} of all time",
                        percent_text(static_cast<double>(waiting.sum), lived));
    SiteSum const* const site = greatest(summary, [](SiteSum const& s) { return s.waiting_ns.sum; });
    if (site != nullptr) text += ", most in " + call_of(*site) + what_it_waits_for(*site);
    if (!crowd.empty()) return text + ".";
    if (static_cast<double>(waiting.least) < 0.5 * waiting.mean())
        return text + fmt::format(
                          ". Rank {} waits least ({} of {} on average): the others wait for it; look at its share of "
                          "the work.",
                          waiting.least_rank, time_text(waiting.least / 1000),
                          time_text(static_cast<std::uint64_t>(waiting.mean() / 1000)));
    return text + ". No rank stands out: all wait about as long.";
}

/// A rank that holds much more than the others, unless it is the MPI's memory or buffers in flight, which have advice
/// of their own. How many buffers the rank itself had in flight before that moment is not known, so the most of any
/// rank and of any place counts.
std::string about_balance(Summary const& summary) {
    Spread const& peak = summary.peak_kib;
    if (!summary.all_ended() || peak.ranks < 2) return {};
    std::uint64_t const others = (peak.sum - peak.most) / (peak.ranks - 1);
    std::uint64_t const more = peak.most - others;
    if (more << 10 < 16 * k_mib || more < others / 2) return {};
    std::uint64_t const application = part_of(summary.highest.sample, Owner::application);
    Spread const& of_ranks = summary.application_kib;
    std::uint64_t const of_others = (of_ranks.sum - std::min(of_ranks.sum, application)) / (peak.ranks - 1);
    SiteSum const* const site = greatest(summary, [](SiteSum const& s) { return s.in_flight.most; });
    std::uint64_t const of_place = site == nullptr ? 0 : site->in_flight.most >> 10;
    std::uint64_t const others_or_in_flight = of_others + std::max(summary.in_flight_kib.most, of_place);
    if (application <= others_or_in_flight || (application - others_or_in_flight) * 2 < more) return {};
    return fmt::format(
        "Rank {} holds {} at its peak, {} more than the others on average, most of it the application's: a more even "
        "share of the data lowers the peak.",
        peak.most_rank, kib_text(peak.most), kib_text(more));
}

std::string about_init(Summary const& summary) {
    if (std::uint64_t const compiler = summary.init_compiler.most; compiler >= 16 * k_mib)
        return fmt::format(
            "MPI_Init brings {} into a rank, because hwloc looks for OpenCL devices, whose drivers load libLLVM: with "
            "HWLOC_COMPONENTS=-opencl in the environment it does not look.",
            size_text(compiler));
    std::uint64_t const init = summary.init_private.most + summary.init_shared.most;
    if (init < 16 * k_mib || init * 4 < summary.highest.kib << 10) return {};
    return fmt::format(
        "MPI takes {} of a rank's memory in MPI_Init, before any message ({} private, {} shared): fewer "
        "ranks of several threads, or smaller shared segments, would help most.",
        size_text(init), size_text(summary.init_private.most), size_text(summary.init_shared.most));
}

/// Whether a service of Sluice did anything that a limit could bound.
bool served_anything(Summary const& summary) {
    return summary.served_calls > 0 || std::any_of(summary.counters.begin(), summary.counters.end(), [](auto const& c) {
               return c.service != "samples" && c.count.sum > 0;
           });
}

/// The kernel enforces the limit of a node; --memory bounds what Sluice takes to serve calls.
std::string about_limits(Summary const& summary, NodeSum const& node) {
    std::uint64_t const peaks = node.need_kib() << 10;
    std::string text;
    if (node.limit > 0)
        text += peaks > node.limit
                    ? fmt::format("; its limit, {}, is too little for all peaks at once", size_text(node.limit))
                    : fmt::format("; its limit is {}", size_text(node.limit));
    if (node.asked == 0) return text;
    if (!served_anything(summary))
        text += fmt::format(". --memory {} bounded nothing, because Sluice served no call",
                            base::exact_bytes(Bytes{node.asked}));
    else if (peaks > node.asked)
        text += fmt::format(". --memory {} bounds what Sluice takes to serve calls, not the program's memory",
                            base::exact_bytes(Bytes{node.asked}));
    return text;
}

/// From the peaks that the report shows to the need: "2 ranks at their peaks, 406 MiB, less 61 MiB of files".
std::string sum_of_need(NodeSum const& node) {
    std::string text = fmt::format("{} at {}, {}", plural(node.ranks, "rank"),
                                   node.ranks == 1 ? "its peak" : "their peaks", kib_text(node.peaks_kib));
    std::vector<std::string> less;
    if (node.peaks_files_kib > 0) less.push_back(kib_text(node.peaks_files_kib) + " of libraries and files");
    if (node.repeated_kib() > 0) less.push_back(kib_text(node.repeated_kib()) + " that they share");
    for (std::size_t i = 0; i < less.size(); ++i)
        text += (i == 0 ? ", less " : " and ") + less[i];
    return text;
}

std::string about_budget(Summary const& summary) {
    if (summary.nodes.empty()) return {};
    auto const fullest = std::max_element(summary.nodes.begin(), summary.nodes.end(),
                                          [](auto const& a, auto const& b) { return a.need_kib() < b.need_kib(); });
    std::uint64_t const need = fullest->need_kib();
    if (need == 0) return {};
    // Nothing is known of the time after a job was ended.
    if (!summary.all_ended())
        return fmt::format("The job needed up to {} on a node so far ({}); the rest of it may need more.",
                           kib_text(need), sum_of_need(*fullest));
    // For the rest of the processes and of the node: the launcher, and what the kernel has for them.
    std::uint64_t const memory = need + std::max(need / 10, k_least_beside_kib);
    return fmt::format("The job as it is needs up to {} on a node ({}): --memory {}MiB holds it{}.", kib_text(need),
                       sum_of_need(*fullest), (memory + 1023) / 1024, about_limits(summary, *fullest));
}

}  // namespace

std::vector<Consumer> consumers_of(Summary const& summary) {
    std::vector<Consumer> list;
    auto const put = [&list](std::string who, std::uint64_t bytes, std::uint32_t rank, std::string how) {
        if (bytes > 0) list.push_back({std::move(who), bytes, rank, std::move(how)});
    };
    PeakOf const& peak = summary.highest;
    std::uint64_t const application = part_of(peak.sample, Owner::application);
    put("the application", (application - std::min<std::uint64_t>(application, peak.sample.in_flight)) << 10, peak.rank,
        "its own, apart from buffers in flight");
    bool const has_init = std::any_of(summary.sites.begin(), summary.sites.end(),
                                      [](SiteSum const& site) { return site.function.starts_with("MPI_Init"); });
    if (!has_init)
        put("MPI_Init", summary.init_private.most + summary.init_shared.most, summary.init_private.most_rank,
            "MPI's memory grew");
    put("Sluice", summary.sluice_kib.most << 10, summary.sluice_kib.most_rank, "records, staging, tables");
    if (SiteSum const* const site = site_of_peak(summary))
        put(call_of(*site), passing_mpi_memory(summary), peak.rank, "MPI's memory at the peak, given back later");
    if (std::uint64_t const bytes = unplaced_mpi_memory(summary); bytes >= k_least_unplaced)
        put("the MPI", bytes, peak.rank, "its memory grew, it is not known in which calls");
    for (SiteSum const& site : summary.sites) {
        std::string grew = is_estimated(site) ? "MPI's memory grew, estimated" : "MPI's memory grew";
        if (may_run_operators(site, summary)) grew += ", with what the program's operators took";
        put(call_of(site), site.grown.most, site.grown.most_rank, std::move(grew));
        put(call_of(site), site.in_flight.most, site.in_flight.most_rank, "buffers in flight");
    }
    std::stable_sort(list.begin(), list.end(), [](Consumer const& a, Consumer const& b) { return a.bytes > b.bytes; });
    return list;
}

std::vector<std::string> advice_for(Summary const& summary) {
    std::vector<std::string> list;
    for (auto const about : {about_growth, about_making, about_flight})
        add_unless_empty(list, about(summary));
    for (std::string& line : about_objects(summary))
        list.push_back(std::move(line));
    for (auto const about : {about_waiting, about_balance, about_init})
        add_unless_empty(list, about(summary));
    if (list.size() >= k_most_advice) list.resize(k_most_advice - 1);  // one more follows
    if (list.empty() && summary.all_ended()) {
        record::Sample const& highest = summary.highest.sample;
        auto const most = std::ranges::max(k_owners, {}, [&](Owner owner) { return part_of(highest, owner); });
        list.push_back(fmt::format("Nothing in the communication stands out: {} of the highest peak are {}.",
                                   percent_text(part_of(highest, most), highest.resident), name_of(most)));
    }
    add_unless_empty(list, about_budget(summary));
    return list;
}

}  // namespace sluice::report
