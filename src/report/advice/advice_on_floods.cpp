// SPDX-License-Identifier: BSD-3-Clause
#include "report/advice/advice_on_floods.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/message_memory.hpp"
#include "report/advice/kinds_of_calls.hpp"
#include "report/advice/largest_site.hpp"
#include "report/advice/point_to_point.hpp"
#include "report/show/words.hpp"
#include "sluice/settings.hpp"

namespace sluice::report {

namespace {

using record::Kind;

constexpr std::uint64_t k_few_messages = 1000;
// Larger messages wait for their receive on the sender's side.
constexpr std::uint64_t k_most_eager = 64 << 10;
// What flood control leaves with each sender but the one that the receiver takes from (docs/rooms/flood.md).
constexpr std::uint64_t k_of_other_senders = 32 << 10;

/// The pairs of ranks through which most messages come to a rank, or go from it: those with at least half as many as
/// the busiest pair.
struct Flow {
    Cell busiest;
    std::uint64_t pairs = 0;
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
    std::uint64_t bytes_each() const noexcept { return messages > 0 ? bytes / messages : 0; }
    bool is_flood() const noexcept { return messages >= k_few_messages && bytes_each() <= k_most_eager; }
};

template <class Which>
Flow flow_where(Summary const& summary, Which const& which) {
    bool const ranks_alone = summary.world_size <= record::k_peers;
    Flow flow;
    auto const counts = [&](Cell const& cell) { return which(cell) && !(ranks_alone && cell.from == cell.to); };
    for (Cell const& cell : summary.matrix)
        if (counts(cell) && cell.messages > flow.busiest.messages) flow.busiest = cell;
    for (Cell const& cell : summary.matrix) {
        if (!counts(cell) || cell.messages == 0 || cell.messages < flow.busiest.messages / 2) continue;
        ++flow.pairs;
        flow.messages += cell.messages;
        flow.bytes += cell.bytes;
    }
    return flow;
}

Flow flow_to(Summary const& summary, std::uint32_t rank) {
    std::uint32_t const bin = record::bin_of(rank, summary.world_size);
    return flow_where(summary, [bin](Cell const& cell) { return cell.to == bin; });
}

Flow flow_from(Summary const& summary, std::uint32_t rank) {
    std::uint32_t const bin = record::bin_of(rank, summary.world_size);
    return flow_where(summary, [bin](Cell const& cell) { return cell.from == bin; });
}

/// "rank 3", or "ranks 512 to 513" of a bin that joins several.
std::string ranks_text(Summary const& summary, std::uint32_t bin) {
    std::uint64_t const size = summary.world_size;
    if (size <= record::k_peers) return fmt::format("rank {}", bin);
    std::uint64_t const first = bin * size / record::k_peers;
    std::uint64_t const last = (bin + 1) * size / record::k_peers - 1;
    return first == last ? fmt::format("rank {}", first) : fmt::format("ranks {} to {}", first, last);
}

bool is_eager_send(SiteSum const& site) {
    static constexpr std::array k_standard{"MPI_Send", "MPI_Isend", "MPI_Sendrecv", "MPI_Sendrecv_replace"};
    std::string_view name = site.function;
    if (name.ends_with("_c")) name.remove_suffix(2);
    return std::find(k_standard.begin(), k_standard.end(), name) != k_standard.end();
}

/// The place that most of the messages come from: of those whose messages have about the size, if that one has most of
/// their calls and as many as there are messages. Null if that is not so.
SiteSum const* place_of(Summary const& summary, Flow const& flow) {
    SiteSum const* most = nullptr;
    std::uint64_t calls = 0;
    for (SiteSum const& site : summary.sites) {
        if (!is_eager_send(site) || site.calls == 0) continue;
        std::uint64_t const each = site.bytes_out / site.calls;
        if (each > 2 * flow.bytes_each() || 2 * each < flow.bytes_each()) continue;
        calls += site.calls;
        if (most == nullptr || site.calls > most->calls) most = &site;
    }
    return most != nullptr && 2 * most->calls > calls && 2 * most->calls >= flow.messages ? most : nullptr;
}

std::string messages_text(Flow const& flow) {
    return fmt::format("{} messages of {}", count_text(flow.messages), size_text(flow.bytes_each()));
}

/// ", 5300 at once (an estimate)": how many of them wait if what grew is theirs. Empty if there are few messages.
std::string waiting_text(Flow const& flow, std::uint64_t grown) {
    if (!flow.is_flood()) return {};
    std::uint64_t const waiting = std::min(grown / base::memory_of_message(flow.bytes_each()), flow.messages);
    return waiting > 0 ? fmt::format(", about {} at once (an estimate)", count_text(waiting)) : std::string();
}

/// The ranks of so many bins.
std::string number_of_ranks(Summary const& summary, std::uint64_t bins) {
    if (summary.world_size <= record::k_peers) return plural(bins, "rank");
    return "about " + plural(bins * summary.world_size / record::k_peers, "rank");
}

/// "Rank 0 sent it 6000 messages of 3.91 KiB, most by MPI_Send at f+0x3 (app). " Empty if there are few.
std::string who_sent(Summary const& summary, Flow const& flow, SiteSum const* place) {
    if (!flow.is_flood()) return {};
    std::string const receiver = summary.world_size <= record::k_peers ? "it" : ranks_text(summary, flow.busiest.to);
    std::string const busiest = ranks_text(summary, flow.busiest.from);
    std::string const by = place != nullptr ? ", most by " + call_of(*place) : std::string();
    if (flow.pairs == 1) return fmt::format("{} sent {} {}{}. ", capital(busiest), receiver, messages_text(flow), by);
    return fmt::format("{} sent {} {} ({} sent {} of them){}. ", capital(number_of_ranks(summary, flow.pairs)),
                       receiver, messages_text(flow), busiest, count_text(flow.busiest.messages), by);
}

/// "The ranks sent each other 9000 messages of 1000 B, without those of collective calls, most by MPI_Send at f+0x3
/// (app). "
std::string all_sent(Messages const& sent, SiteSum const* place) {
    return fmt::format("The ranks sent each other {} messages of {}, without those of collective calls{}. ",
                       count_text(sent.number), size_text(sent.bytes_each()),
                       place != nullptr ? ", most by " + call_of(*place) : std::string());
}

/// The same of a rank whose own messages wait.
std::string to_whom(Summary const& summary, Flow const& flow) {
    if (!flow.is_flood()) return {};
    std::string const busiest = ranks_text(summary, flow.busiest.to);
    std::string const sender =
        summary.world_size <= record::k_peers ? "It" : capital(ranks_text(summary, flow.busiest.from));
    if (flow.pairs == 1) return fmt::format("{} sent {} {}. ", sender, busiest, messages_text(flow));
    return fmt::format("{} sent {} {} ({} of them to {}). ", sender, number_of_ranks(summary, flow.pairs),
                       messages_text(flow), count_text(flow.busiest.messages), busiest);
}

bool has_flood_control(Summary const& summary) {
    return std::any_of(summary.counters.begin(), summary.counters.end(),
                       [](CounterSum const& counter) { return counter.service == "flood control"; });
}

std::uint64_t counted(Summary const& summary, std::string_view what) {
    std::uint64_t sum = 0;
    for (CounterSum const& counter : summary.counters)
        if (counter.service == "flood control" && counter.what == what) sum += counter.count.sum;
    return sum;
}

/// What flood control did with the messages that wait all the same.
struct Bounded {
    std::uint64_t marks;
    std::uint64_t let_go;
};

/// What bounds them, after "do this": " or run it with …", or a sentence of its own. `kept`: what would wait with flood
/// control at its default share; `place`: where they are sent, null if that is not known.
std::string what_bounds_them(Summary const& summary, std::string const& otherwise, Bounded bounded, std::uint64_t kept,
                             SiteSum const* place) {
    std::string const first = otherwise.empty() ? "" : otherwise + ", or ";
    if (!has_flood_control(summary))
        return fmt::format(": {}run it with `sluice run --flood on`, with which about {} would wait (an estimate).",
                           first, size_text(kept));
    std::string const alone = otherwise.empty() ? ". " : ": " + otherwise + ". ";
    if (bounded.marks == 0)
        return alone + "Flood control bounded none of them: they are what it leaves alone, or it said why it is off.";
    if (bounded.let_go > 0)
        return alone + fmt::format(
                           "Flood control let {} go to receivers that took nothing for long: a longer "
                           "--flood-hold, or a smaller --flood-share, lets less go.",
                           plural(bounded.let_go, "message"));
    if (place != nullptr && starts_request(*place))
        return alone + "Flood control holds the calls that complete nonblocking sends: start fewer of them at once.";
    return fmt::format(": {}give `sluice run` a smaller --flood-share.", first);
}

Bounded bounded_messages(Summary const& summary) {
    return {counted(summary, "synchronous sends"),
            counted(summary, "sends let go to silent receivers") + counted(summary, "sends let go after flood-hold")};
}

std::uint64_t default_share() {
    return Settings().flood_share.count;
}

bool runs_from_the_root(SiteSum const& site) {
    return site.function.starts_with("MPI_Bcast") || site.function.starts_with("MPI_Scatter");
}

}  // namespace

std::string about_messages_sent(Summary const& summary, SiteSum const& site) {
    Flow const flow = flow_from(summary, site.grown.most_rank);
    std::uint64_t const kept = std::max<std::uint64_t>(flow.pairs, 1) * default_share();
    return to_whom(summary, flow) + "The MPI keeps there what is sent and that no receive has taken yet" +
           waiting_text(flow, site.grown.most) + what_bounds_them(summary, "", bounded_messages(summary), kept, &site);
}

std::string about_messages_received(Summary const& summary, SiteSum const& site) {
    Flow const flow = flow_to(summary, site.grown.most_rank);
    SiteSum const* const place = place_of(summary, flow);
    std::uint64_t const others = flow.pairs > 1 ? flow.pairs - 1 : 0;
    return who_sent(summary, flow, place) + "Messages that come before their receive wait there" +
           waiting_text(flow, site.grown.most) +
           what_bounds_them(summary, "post receives earlier", bounded_messages(summary),
                            default_share() + others * k_of_other_senders, place);
}

bool is_flood_in_barrier(Summary const& summary, SiteSum const& site) {
    if (site.function != "MPI_Barrier") return false;
    Messages const there = at_least_to(summary, site.grown.most_rank, sent_point_to_point(summary, k_most_eager));
    return there.bytes > 0 && there.number >= k_few_messages && there.memory() >= site.grown.most;
}

std::string about_barrier(Summary const& summary, SiteSum const& site) {
    Messages const sent = sent_point_to_point(summary, k_most_eager);
    Flow flow = flow_to(summary, site.grown.most_rank);
    bool const alone = sent == in_matrix(summary);
    flow.messages = alone ? flow.messages : at_least_to(summary, site.grown.most_rank, sent).number;
    flow.bytes = alone ? flow.bytes : flow.messages * sent.bytes_each();
    SiteSum const* const place = place_of(summary, flow);
    std::uint64_t const others = flow.pairs > 1 ? flow.pairs - 1 : 0;
    return (alone ? who_sent(summary, flow, place) : all_sent(sent, place)) +
           "A barrier has no data: messages wait there that came before their receive was posted" +
           waiting_text(flow, site.grown.most) +
           what_bounds_them(summary, "", bounded_messages(summary), default_share() + others * k_of_other_senders,
                            place);
}

bool is_flood_of_rooted_calls(Summary const& summary, SiteSum const& site) {
    static constexpr std::array k_rooted{"MPI_Bcast",  "MPI_Scatter", "MPI_Scatterv",
                                         "MPI_Reduce", "MPI_Gather",  "MPI_Gatherv"};
    std::string_view name = site.function;
    if (name.ends_with("_c")) name.remove_suffix(2);
    if (std::find(k_rooted.begin(), k_rooted.end(), name) == k_rooted.end()) return false;
    std::uint64_t const of_each = site.calls / std::max<std::uint64_t>(site.time_ns.ranks, 1);
    if (of_each < k_few_messages || site.bytes.sum / site.calls > k_most_eager) return false;
    std::uint64_t const messages = of_each * std::max(summary.world_size, 1U);
    return site.grown.most <= 2 * messages * base::memory_of_message(site.bytes.sum / site.calls);
}

std::string about_rooted_calls(Summary const& summary, SiteSum const& site) {
    Flow const incoming = flow_to(summary, site.grown.most_rank);
    Flow const flow = incoming.is_flood() ? incoming : flow_from(summary, site.grown.most_rank);
    return (incoming.is_flood() ? who_sent(summary, flow, nullptr) : to_whom(summary, flow)) +
           (runs_from_the_root(site)
                ? "The root does not wait for the other ranks, and what they have not taken waits there"
                : "The others do not wait for the root, and what it has not taken waits there") +
           waiting_text(flow, site.grown.most) +
           what_bounds_them(summary, "make all ranks meet now and then",
                            {counted(summary, "barriers of rooted collectives"), counted(summary, "barriers let go")},
                            default_share(), nullptr);
}

}  // namespace sluice::report
