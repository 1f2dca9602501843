// SPDX-License-Identifier: BSD-3-Clause
#include "report/advice/advice_on_calls.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/advice/largest_site.hpp"
#include "report/show/words.hpp"

namespace sluice::report {

namespace {

/// True for the all-to-alls that Sluice serves if they are in place.
bool is_blocking_alltoall(SiteSum const& site) {
    return site.function.starts_with("MPI_Alltoall") && !site.function.ends_with("_init");
}

bool is_in_place(SiteSum const& site) {
    return site.calls > 0 && site.in_place == site.calls;
}

/// True if messages can wait inside the call for their receive: it is point-to-point, or moves nothing itself.
bool can_hold_messages(SiteSum const& site) {
    using record::Kind;
    return site.kind == Kind::send || site.kind == Kind::receive || site.kind == Kind::completion ||
           site.function == "MPI_Barrier";
}

/// True if requests that were never freed explain what the MPI took in a call: it keeps some hundred bytes for each, and
/// may take them when a request is started.
bool is_of_requests_left(SiteSum const& site, Summary const& summary) {
    constexpr std::uint64_t k_most_each = 1024;
    ObjectSum const requests = objects_of_kind(summary.objects, record::Object::request);
    return can_hold_messages(site) && requests.left.most >= 1000 && site.grown.most <= k_most_each * requests.left.most;
}

/// The number of ranks that called, each at least once.
std::uint64_t callers(SiteSum const& site) {
    return std::max<std::uint64_t>(site.time_ns.ranks, 1);
}

/// True if each rank called several times, always with one buffer.
bool is_one_buffer(SiteSum const& site) {
    return site.calls >= 2 * callers(site) && site.other_buffers > 0 && site.other_buffers <= callers(site);
}

/// True if most of what is received comes into pages that were not there before, again and again.
bool is_new_memory(SiteSum const& site) {
    return site.calls >= 2 * callers(site) && site.bytes_in > 0 && site.new_bytes >= site.bytes_in / 2;
}

/// The number of calls whose bytes are in flight at once.
double at_once(SiteSum const& site) {
    double const each =
        static_cast<double>(site.bytes.sum) / static_cast<double>(std::max<std::uint64_t>(site.calls, 1));
    return each > 0 ? static_cast<double>(site.in_flight.most) / each : 0;
}

/// Of calls with about as many bytes in flight, one whose memory is new is told of: there is something to be saved.
SiteSum const* largest_in_flight(Summary const& summary) {
    SiteSum const* const largest = greatest(summary, [](SiteSum const& s) { return s.in_flight.most; });
    if (largest == nullptr || is_new_memory(*largest)) return largest;
    for (SiteSum const& site : summary.sites)
        if (site.in_flight.most >= largest->in_flight.most / 10 * 9 && is_new_memory(site)) return &site;
    return largest;
}

}  // namespace

std::string about_growth(Summary const& summary) {
    // Objects that are made on purpose have advice of their own.
    SiteSum const* const site = greatest(summary, [](SiteSum const& s) {
        bool const made = s.kind == record::Kind::setup || s.kind == record::Kind::communicator ||
                          s.kind == record::Kind::window || (s.object != record::Object::none &&
                           (s.object != record::Object::request || s.function.ends_with("_init")));
        return made ? 0 : s.grown.most;
    });
    if (site == nullptr || !is_large(site->grown.most, summary) || is_of_requests_left(*site, summary)) return {};
    std::string const since =
        site->growing_since_us > 0 ? fmt::format(", since {}", time_text(site->growing_since_us)) : std::string();
    std::string const text = fmt::format("MPI's memory grew by {} in {} on rank {}{}. ", size_text(site->grown.most),
                                         call_of(*site), site->grown.most_rank, since);
    if (can_hold_messages(*site))
        return text +
               "Messages that arrive before their receive is posted are kept there: post receives earlier, or make "
               "every "
               "16th send synchronous (MPI_Ssend), which bounds what waits.";
    if (is_blocking_alltoall(*site) && is_in_place(*site) && summary.served_calls == 0)
        return text +
               "The call is in place, and the MPI makes a copy for it. Sluice served no call of this job: with "
               "--inplace "
               "on it exchanges the data within 256 KiB.";
    return text + (site->kind == record::Kind::collective ? "The MPI takes it for its own part of this collective call."
                                                          : "The MPI takes it for its own part of this call.");
}

std::string about_flight(Summary const& summary) {
    SiteSum const* const site = largest_in_flight(summary);
    if (site == nullptr || !is_large(site->in_flight.most, summary)) return {};
    std::uint64_t const peak = summary.highest.kib << 10;
    std::uint64_t const flight = std::min(site->in_flight.most, peak);
    std::string const text = fmt::format("Buffers in flight in {} are up to {} on rank {}, {} of the highest peak",
                                         call_of(*site), size_text(flight), site->in_flight.most_rank,
                                         percent_text(static_cast<double>(flight), static_cast<double>(peak)));
    if (is_blocking_alltoall(*site) && is_in_place(*site))
        return text + ". They are exchanged in place: what is left to save is the size of the exchange itself.";
    if (is_blocking_alltoall(*site) && site->in_place == 0 && site->bytes_in == site->bytes_out)
        return text + fmt::format(
                          ". Half of them are a second copy: if the program does not need the data that it sent, "
                          "with MPI_IN_PLACE, which Sluice serves with at most 256 KiB more, the rank would hold about "
                          "{}.",
                          size_text(peak - flight / 2));
    if (is_one_buffer(*site))
        return text + fmt::format(
                          ": one buffer, the same in all {} calls. The program keeps it between the calls, so fewer "
                          "bytes in flight save nothing.",
                          count_text(site->calls));
    if (is_new_memory(*site) && at_once(*site) >= 2)
        return text + fmt::format(
                          ", in new memory for each call: with half as much in flight at once the rank would hold "
                          "about {}.",
                          size_text(peak - flight / 2));
    if (is_new_memory(*site))
        return text + fmt::format(
                          ", in new memory for each call, {} of pages in all. One buffer for all {} calls saves taking "
                          "them again and again.",
                          size_text(site->new_bytes), count_text(site->calls));
    return text +
           ". If they are the data themselves, nothing is to be saved; copies that are made for sending are fewer if "
           "fewer "
           "messages are in flight at once.";
}

}  // namespace sluice::report
