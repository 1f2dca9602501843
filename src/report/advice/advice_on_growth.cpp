// SPDX-License-Identifier: BSD-3-Clause
// Memory of the MPI that grew inside calls: what it is for depends on the kind of call, and on its side.
#include <fmt/format.h>

#include <algorithm>

#include "report/advice/advice_on_calls.hpp"
#include "report/advice/advice_on_floods.hpp"
#include "report/advice/kinds_of_calls.hpp"
#include "report/advice/largest_site.hpp"
#include "report/show/words.hpp"

namespace sluice::report {

namespace {

using record::Kind;

constexpr char k_own_part[] = "The MPI takes it for its own part of this call.";

/// Whether the receives whose messages a completion waits for were posted before: as much as the memory that grew was
/// in flight in nonblocking receives. Messages that come then need no memory to wait in.
bool were_posted(Summary const& summary, std::uint64_t grown) {
    return std::any_of(summary.sites.begin(), summary.sites.end(), [grown](SiteSum const& site) {
        return site.kind == Kind::receive && starts_request(site) && site.in_flight.most >= grown;
    });
}

bool receives_messages(Summary const& summary) {
    return std::any_of(summary.sites.begin(), summary.sites.end(),
                       [](SiteSum const& site) { return site.kind == Kind::receive && site.bytes_in > 0; });
}

std::string about_file(SiteSum const& site) {
    if (!is_collective_access(site)) return k_own_part;
    return "Collective access to files gathers the data in buffers of the MPI, on the ranks that write or read for the "
           "others: the hint cb_buffer_size of MPI_File_open sets their size, and cb_nodes the number of these ranks.";
}

/// Of calls through which messages pass.
std::string about_messages(Summary const& summary, SiteSum const& site) {
    if (site.kind == Kind::send) return about_messages_sent(summary, site);
    if (!receives_messages(summary)) return k_own_part;
    if (site.kind != Kind::receive && were_posted(summary, site.grown.most))
        return "The receives were posted in time; the MPI takes it for messages that are on their way.";
    return site.kind == Kind::collective ? about_barrier(summary, site) : about_messages_received(summary, site);
}

/// Messages can wait inside the call for their receive: it is point-to-point, or moves nothing itself.
bool can_hold_messages(SiteSum const& site) {
    return site.kind == Kind::send || site.kind == Kind::receive || site.kind == Kind::completion ||
           site.function == "MPI_Barrier";
}

/// True if requests that were never freed explain what the MPI took in a call: it keeps some hundred bytes for each,
/// and may take them when a request is started.
bool is_of_requests_left(SiteSum const& site, Summary const& summary) {
    constexpr std::uint64_t k_most_each = 1024;
    ObjectSum const requests = objects_of_kind(summary.objects, record::Object::request);
    return can_hold_messages(site) && requests.left.most >= 1000 && site.grown.most <= k_most_each * requests.left.most;
}

std::string what_it_is(Summary const& summary, SiteSum const& site) {
    if (may_run_operators(site, summary))
        return "The program's own operators (MPI_Op_create) may run in this call. What they take counts there: it is "
               "not known how much of it is the MPI's.";
    bool const holds_them =
        site.kind == Kind::collective ? is_flood_in_barrier(summary, site) : can_hold_messages(site);
    if (holds_them) return about_messages(summary, site);
    if (is_flood_of_rooted_calls(summary, site)) return about_rooted_calls(summary, site);
    if (site.kind == Kind::file) return about_file(site);
    if (is_blocking_alltoall(site) && is_in_place(site) && summary.served_calls == 0)
        return "The call is in place, and the MPI makes a copy for it. Sluice served no call of this job: with "
               "--inplace on it exchanges the data within 256 KiB.";
    return site.kind == Kind::collective ? "The MPI takes it for its own part of this collective call." : k_own_part;
}

/// The MPI's memory at the highest peak, if most of it is not there at other times: no site has grown by as much, and
/// MPI_Init has not taken it.
std::string about_passing_growth(Summary const& summary) {
    std::uint64_t const bytes = passing_mpi_memory(summary);
    SiteSum const* const site = site_of_peak(summary);
    if (site == nullptr || !is_large(bytes, summary)) return {};
    return fmt::format("MPI's memory was {} more at the peak of rank {}, in {}, and the MPI gave it back later. {}",
                       size_text(bytes), summary.highest.rank, call_of(*site), what_it_is(summary, *site));
}

}  // namespace

std::string about_growth(Summary const& summary) {
    // Objects that are made on purpose have advice of their own.
    SiteSum const* const site = greatest(
        summary, [](SiteSum const& s) { return s.kind == Kind::setup || makes_objects(s) ? 0 : s.grown.most; });
    if (site == nullptr || !is_large(site->grown.most, summary)) return about_passing_growth(summary);
    if (is_of_requests_left(*site, summary)) return {};
    std::string const since =
        site->growing_since_us > 0 ? fmt::format(", since {}", time_text(site->growing_since_us)) : std::string();
    return fmt::format("MPI's memory grew by {} in {} on rank {}{}. ", grown_text(*site), call_of(*site),
                       site->grown.most_rank, since) +
           what_it_is(summary, *site);
}

}  // namespace sluice::report
