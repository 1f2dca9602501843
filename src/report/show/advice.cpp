// SPDX-License-Identifier: BSD-3-Clause
#include "report/show/advice.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/show/largest_site.hpp"
#include "report/show/words.hpp"

namespace sluice::report {

namespace {

constexpr std::uint64_t k_mib = 1 << 20;

/// Advises on the MPI's memory that grew in calls that receive or wait; objects made on purpose have their own advice.
std::string about_growth(Summary const& summary) {
    SiteSum const* const site = greatest(summary, [](SiteSum const& s) {
        bool const made =
            s.kind == record::Kind::setup || s.kind == record::Kind::communicator || s.kind == record::Kind::window;
        return made ? 0 : s.grown.most;
    });
    if (site == nullptr || !is_large(site->grown.most, summary)) return {};
    std::string const since =
        site->growing_since_us > 0 ? fmt::format(", since {}", time_text(site->growing_since_us)) : std::string();
    return fmt::format(
        "MPI's memory grew by {} in {} on rank {}{}. Messages that arrive before their receive is posted are kept "
        "there: post receives earlier, or make every 16th send synchronous (MPI_Ssend), which bounds what waits.",
        size_text(site->grown.most), call_of(*site), site->grown.most_rank, since);
}

/// Returns true if the send and receive data of the call share one buffer: then less is in flight than is sent and
/// received.
bool is_in_place(SiteSum const& site) {
    return site.calls > 0 && site.in_flight.most < (site.bytes_out + site.bytes_in) / site.calls * 3 / 4;
}

std::string about_flight(Summary const& summary) {
    SiteSum const* const site = greatest(summary, [](SiteSum const& s) { return s.in_flight.most; });
    if (site == nullptr || !is_large(site->in_flight.most, summary)) return {};
    std::uint64_t const peak = summary.highest.kib << 10;
    std::uint64_t const flight = std::min(site->in_flight.most, peak);
    std::string text = fmt::format("Buffers in flight in {} are up to {} on rank {}, {} of the highest peak. ",
                                   call_of(*site), size_text(flight), site->in_flight.most_rank,
                                   percent_text(static_cast<double>(flight), static_cast<double>(peak)));
    if (site->function.find("lltoall") != std::string::npos && is_in_place(*site))
        return text + "They are exchanged in place: what is left to save is the size of the exchange itself.";
    if (site->function.find("lltoall") != std::string::npos)
        return text + fmt::format(
                          "Half of them are a second copy: with MPI_IN_PLACE, which Sluice serves with at most "
                          "256 KiB more, the rank would hold about {}.",
                          size_text(peak - flight / 2));
    return text + fmt::format("With half as much in flight at once the rank would hold about {}.",
                              size_text(peak - flight / 2));
}

std::string about_comms(Summary const& summary) {
    Spread const& memory = summary.comm_kib;
    std::uint64_t const made = summary.comms_made.most;
    if (made < 100 && !is_large(memory.most << 10, summary)) return {};
    if (made == 0) return {};
    std::uint64_t const left = summary.comms_made.sum - std::min(summary.comms_made.sum, summary.comms_freed);
    return fmt::format(
        "Rank {} made {}; they cost the ranks up to {}, about {} each, and {} of {} were never freed. Make "
        "them once and use them again, or free them.",
        summary.comms_made.most_rank, plural(made, "communicator"), kib_text(memory.most),
        kib_text(memory.sum / std::max<std::uint64_t>(1, summary.comms_made.sum)), count_text(left),
        count_text(summary.comms_made.sum));
}

std::string about_waiting(Summary const& summary) {
    Spread const& waiting = summary.waiting_ns;
    double const lived = static_cast<double>(summary.lived_us.sum) * 1e3;
    if (waiting.ranks < 2 || static_cast<double>(waiting.sum) < 0.25 * lived) return {};
    std::string text = fmt::format("The ranks wait for each other during {} of the time",
                                   percent_text(static_cast<double>(waiting.sum), lived));
    if (SiteSum const* const site = greatest(summary, [](SiteSum const& s) { return s.waiting_ns.sum; }))
        text += ", most in " + call_of(*site);
    if (static_cast<double>(waiting.least) < 0.5 * waiting.mean())
        return text + fmt::format(
                          ". Rank {} waits least ({} of {} on average): the others wait for it; look at its share of "
                          "the work.",
                          waiting.least_rank, time_text(waiting.least / 1000),
                          time_text(static_cast<std::uint64_t>(waiting.mean() / 1000)));
    return text + ". No rank stands out: all wait about as long.";
}

std::string about_init(Summary const& summary) {
    std::uint64_t const init = summary.init_private.most + summary.init_shared.most;
    if (init < 16 * k_mib || init * 4 < summary.highest.kib << 10) return {};
    return fmt::format(
        "MPI takes {} of a rank's memory in MPI_Init, before any message ({} private, {} shared): fewer "
        "ranks of several threads, or smaller shared segments, would help most.",
        size_text(init), size_text(summary.init_private.most), size_text(summary.init_shared.most));
}

std::string about_budget(Summary const& summary) {
    if (summary.nodes.empty()) return {};
    auto const fullest = std::max_element(summary.nodes.begin(), summary.nodes.end(),
                                          [](auto const& a, auto const& b) { return a.peaks_kib() < b.peaks_kib(); });
    if (fullest->peaks_kib() == 0) return {};
    // The advice adds a tenth, for peaks between two samples and for the rest of the process.
    std::uint64_t const budget = (fullest->peaks_kib() + fullest->peaks_kib() / 10 + 1023) / 1024;
    // Nothing is known of the time after a job was ended.
    if (!summary.all_ended())
        return fmt::format(
            "The peaks of the ranks of a node came to {} ({}) so far; the rest of the job may need more.",
            kib_text(fullest->peaks_kib()), plural(fullest->ranks, "rank"));
    std::string text =
        fmt::format("The job as it is needs up to {} on a node ({} at their peaks): --memory {}MiB holds it",
                    kib_text(fullest->peaks_kib()), plural(fullest->ranks, "rank"), budget);
    bool const too_little = fullest->peaks_kib() << 10 > fullest->limit;
    if (fullest->limit > 0)
        text += too_little
                    ? fmt::format("; its limit, {}, is too little for all peaks at once", size_text(fullest->limit))
                    : fmt::format("; its limit is {}", size_text(fullest->limit));
    return text + ".";
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
    for (SiteSum const& site : summary.sites) {
        put(call_of(site), site.grown.most, site.grown.most_rank, "MPI's memory grew");
        put(call_of(site), site.in_flight.most, site.in_flight.most_rank, "buffers in flight");
    }
    std::stable_sort(list.begin(), list.end(), [](Consumer const& a, Consumer const& b) { return a.bytes > b.bytes; });
    return list;
}

std::vector<std::string> advice_for(Summary const& summary) {
    std::vector<std::string> list;
    add_unless_empty(list, about_growth(summary));
    add_unless_empty(list, about_flight(summary));
    add_unless_empty(list, about_comms(summary));
    add_unless_empty(list, about_waiting(summary));
    add_unless_empty(list, about_init(summary));
    bool const anything = !list.empty();
    if (!anything)
        list.push_back(fmt::format(
            "Nothing in the communication stands out: {} of the highest peak are the application's own memory.",
            percent_text(part_of(summary.highest.sample, Owner::application), summary.highest.sample.resident)));
    add_unless_empty(list, about_budget(summary));
    return list;
}

}  // namespace sluice::report
