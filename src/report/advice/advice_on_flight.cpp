// SPDX-License-Identifier: BSD-3-Clause
// Buffers of the program that calls hold: what they are, and whether fewer would do.
#include <fmt/format.h>

#include <algorithm>

#include "report/advice/advice_on_calls.hpp"
#include "report/advice/kinds_of_calls.hpp"
#include "report/advice/largest_site.hpp"
#include "report/show/words.hpp"

namespace sluice::report {

namespace {

/// The number of ranks that called, each at least once.
std::uint64_t callers(SiteSum const& site) {
    return std::max<std::uint64_t>(site.time_ns.ranks, 1);
}

/// True if each rank called several times, always with a buffer at one address: one that the program keeps, or takes
/// again and again at the same place.
bool is_at_one_address(SiteSum const& site) {
    return site.calls >= 2 * callers(site) && site.other_buffers > 0 && site.other_buffers <= callers(site);
}

/// True if most of what is received comes into pages that were not there before, again and again: more came so than
/// the rank ever held, or, at one address, than the buffer has. Data that are received once stay where they are.
bool is_new_memory(Summary const& summary, SiteSum const& site) {
    if (site.calls < 2 * callers(site) || site.bytes_in == 0 || site.new_bytes.sum < site.bytes_in / 2) return false;
    bool const is_of_that_rank = site.new_bytes.most_rank == site.in_flight.most_rank;
    std::uint64_t const held = (is_of_that_rank ? site.in_flight_peak_kib : summary.highest.kib) << 10;
    return site.new_bytes.most > held ||
           (is_at_one_address(site) && site.in_flight.most > 0 && site.new_bytes.most / 2 >= site.in_flight.most);
}

/// The number of calls whose bytes are in flight at once. A blocking call is alone.
double at_once(SiteSum const& site) {
    if (!starts_request(site)) return 1;
    double const each =
        static_cast<double>(site.bytes.sum) / static_cast<double>(std::max<std::uint64_t>(site.calls, 1));
    return each > 0 ? static_cast<double>(site.in_flight.most) / each : 0;
}

/// Of calls with about as many bytes in flight, one whose memory is new is told of: there is something to be saved.
SiteSum const* largest_in_flight(Summary const& summary) {
    SiteSum const* const largest = greatest(summary, [](SiteSum const& s) { return s.in_flight.most; });
    if (largest == nullptr || is_new_memory(summary, *largest)) return largest;
    for (SiteSum const& site : summary.sites)
        if (site.in_flight.most >= largest->in_flight.most / 10 * 9 && is_new_memory(summary, site)) return &site;
    return largest;
}

/// Of a place whose buffers are neither one nor new for each call.
std::string what_they_are(SiteSum const& site) {
    switch (site.kind) {
        case record::Kind::file:
            return ". They are what the call reads or writes; parts one after the other need smaller buffers, if the "
                   "program makes them for the call.";
        case record::Kind::collective:
        case record::Kind::one_sided:
            return ". If they are the data themselves, nothing is to be saved; copies that are made for the call may "
                   "be "
                   "exchanged in parts.";
        default:
            return ". If they are the data themselves, nothing is to be saved; copies that are made for sending are "
                   "fewer if fewer messages are in flight at once.";
    }
}

}  // namespace

std::string about_flight(Summary const& summary) {
    SiteSum const* const site = largest_in_flight(summary);
    if (site == nullptr || !is_large(site->in_flight.most, summary)) return {};
    std::uint64_t const peak = site->in_flight_peak_kib << 10;  // of that rank
    std::uint64_t const flight = std::min(site->in_flight.most, peak);
    std::string const text = fmt::format("Buffers in flight in {} are up to {} on rank {}, {} of its peak",
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
    bool const is_new = is_new_memory(summary, *site);
    if (is_new && at_once(*site) >= 2)
        return text + fmt::format(
                          ", in new memory for each call: with half as much in flight at once the rank would hold "
                          "about {}.",
                          size_text(peak - flight / 2));
    if (is_new)
        return text + fmt::format(
                          ", in new memory for each call, {} of pages in all. One buffer for all {} calls saves taking "
                          "them again and again.",
                          size_text(site->new_bytes.sum), count_text(site->calls));
    if (is_at_one_address(*site) && site->bytes_in > 0)
        return text + fmt::format(
                          ": one buffer, the same in all {} calls. The program keeps it between the calls, so fewer "
                          "bytes in flight save nothing.",
                          count_text(site->calls));
    // Whether the program wrote what it sends into new pages cannot be seen in the call.
    if (is_at_one_address(*site))
        return text + fmt::format(
                          ", at one address in all {} calls. If the program keeps that buffer between the calls, fewer "
                          "bytes in flight save nothing.",
                          count_text(site->calls));
    return text + what_they_are(*site);
}

}  // namespace sluice::report
