// SPDX-License-Identifier: BSD-3-Clause
#include "report/show/times.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/advice/largest_site.hpp"
#include "report/show/words.hpp"

namespace sluice::report {

double ns_after_init(Summary const& summary) {
    return std::max(0.0, static_cast<double>(summary.lived_us.sum) * 1e3 - static_cast<double>(summary.init_ns.sum));
}

std::string crowded_text(Summary const& summary) {
    for (NodeSum const& node : summary.nodes)
        if (node.processors > 0 && node.ranks > node.processors)
            return fmt::format("{} share the {} of node {}", plural(node.ranks, "rank"),
                               plural(node.processors, "processor"), node.node);
    return {};
}

std::string when_of_peak(Summary const& summary) {
    PeakOf const& peak = summary.highest;
    if (peak.seen == record::PeakSeen::before_init) return "before MPI_Init";
    return fmt::format("{} {}, {}", peak.seen == record::PeakSeen::between_samples ? "between two samples near" : "at",
                       time_text(peak.sample.time_us),
                       peak.function.empty() ? "outside MPI" : "in " + call_text(peak.function, peak.place));
}

std::string time_line(Summary const& s) {
    double const lived = ns_after_init(s);
    double const in_mpi = static_cast<double>(s.time_in_mpi_ns.sum - std::min(s.time_in_mpi_ns.sum, s.init_ns.sum));
    std::string text;
    if (std::string const crowd = crowded_text(s); !crowd.empty()) text = crowd + ". ";
    text += fmt::format("{} of all time in MPI, {} of all time waiting for other ranks", percent_text(in_mpi, lived),
                        percent_text(static_cast<double>(s.waiting_ns.sum), lived));
    if (s.waiting_ns.ranks > 1 && s.waiting_ns.sum > 0)
        text += fmt::format(" (rank {} least {}, rank {} most {})", s.waiting_ns.least_rank,
                            time_text(s.waiting_ns.least / 1000), s.waiting_ns.most_rank,
                            time_text(s.waiting_ns.most / 1000));
    SiteSum const* const site =
        greatest(s, [](SiteSum const& place) { return place.kind == record::Kind::setup ? 0 : place.time_ns.sum; });
    if (site != nullptr)
        text += fmt::format("; most in {} ({})", call_of(*site),
                            percent_text(static_cast<double>(site->time_ns.sum), lived));
    if (s.init_ns.most > 0)
        text += fmt::format("; MPI_Init took {}, which is not counted", time_text(s.init_ns.most / 1000));
    return text;
}

Hidden hidden_of(Summary const& summary) {
    Hidden all;
    for (SiteSum const& site : summary.sites) {
        all.receives += site.deferred;
        all.hidden_ns += site.hidden_ns.sum;
        all.left_ns += site.left_ns.sum;
        all.moving_ns += site.moving_ns.sum;
    }
    return all;
}

std::string hidden_line(Summary const& s) {
    Hidden const all = hidden_of(s);
    if (all.receives == 0) return {};
    std::string text =
        fmt::format("{} of waiting in {}, {} left, {} for moving pages", time_text(all.hidden_ns / 1000),
                    plural(all.receives, "receive"), time_text(all.left_ns / 1000), time_text(all.moving_ns / 1000));
    SiteSum const* const site = greatest(s, [](SiteSum const& place) { return place.hidden_ns.sum; });
    return site == nullptr ? text : text + "; most in " + call_of(*site);
}

}  // namespace sluice::report
