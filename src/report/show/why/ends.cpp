// SPDX-License-Identifier: BSD-3-Clause
#include "report/show/why/ends.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <tuple>
#include <utility>

#include "report/show/words.hpp"

namespace sluice::report {

namespace {

constexpr std::size_t k_most_ways = 3;

struct SignalName {
    std::int64_t number;
    char const* name;
};
constexpr std::array k_signals{SignalName{SIGHUP, "hangup"},
                               SignalName{SIGINT, "interrupt"},
                               SignalName{SIGQUIT, "quit"},
                               SignalName{SIGILL, "illegal instruction"},
                               SignalName{SIGTRAP, "trap"},
                               SignalName{SIGABRT, "abort"},
                               SignalName{SIGBUS, "bus error"},
                               SignalName{SIGFPE, "arithmetic error"},
                               SignalName{SIGKILL, "kill"},
                               SignalName{SIGSEGV, "segmentation fault"},
                               SignalName{SIGPIPE, "broken pipe"},
                               SignalName{SIGALRM, "alarm clock"},
                               SignalName{SIGTERM, "termination"},
                               SignalName{SIGXCPU, "limit of processor time"},
                               SignalName{SIGXFSZ, "limit of file size"},
                               SignalName{SIGSYS, "forbidden system call"}};

/// Allocates nothing.
template <class... Arguments>
std::string_view put_into(WayRoom& room, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    auto const all = fmt::format_to_n(room.data(), room.size(), format, std::forward<Arguments>(arguments)...);
    return {room.data(), std::min(all.size, room.size())};
}

std::string_view signal_text(std::int64_t number, WayRoom& room) {
    auto const found =
        std::find_if(k_signals.begin(), k_signals.end(), [number](SignalName const& s) { return s.number == number; });
    if (found == k_signals.end()) return put_into(room, "signal {}", number);
    return put_into(room, "signal {} ({})", number, found->name);
}

/// The way, and the call that the earliest rank of it was in.
std::string way_and_place(EndSum const& end) {
    std::string const call = call_text(end.function, end.place);
    bool const in_mpi = !end.function.empty();
    if (end.how == How::killed) return way_text(end.how, end.code) + (in_mpi ? ", in " : ", ") + call;
    if (!in_mpi) return way_text(end.how, end.code);
    return way_text(end.how, end.code) + (end.how == How::aborted ? ", called inside " : ", inside ") + call;
}

bool is_earlier(EndSum const& a, EndSum const& b) {
    return std::tie(a.at_us.least, a.at_us.least_rank) < std::tie(b.at_us.least, b.at_us.least_rank);
}

/// The same without one rank.
RankSet without(RankSet const& ranks, std::uint32_t rank) {
    std::vector<std::uint32_t> lowest = ranks.lowest();
    std::erase(lowest, rank);
    return {ranks.count() - 1, std::move(lowest)};
}

std::string first_sentence(Summary const& summary, EndSum const& end) {
    return fmt::format("Rank {} ended {}at {}: {}.", end.at_us.least_rank, summary.world_size > 1 ? "first, " : "",
                       time_text(end.at_us.least), way_and_place(end));
}

/// How the other ranks ended that ended in the first one's way.
std::string same_sentence(Summary const& summary, EndSum const& end) {
    RankSet const others = without(end.ranks, end.at_us.least_rank);
    if (others.count() == 0) return {};
    std::string const who = capital(others.text(summary.world_size));
    std::uint64_t const within = end.at_us.most - end.at_us.least;
    if (end.how == How::killed && within < k_at_once_us)
        return fmt::format("{} ended by the same signal within {}, sent by the launcher or to the whole job.", who,
                           time_text(within));
    return fmt::format("{} ended in the same way afterwards, the last at {}.", who, time_text(end.at_us.most));
}

std::string times_text(Spread const& at_us) {
    std::string const least = time_text(at_us.least);
    std::string const most = time_text(at_us.most);
    return "at " + (least == most ? least : least + " … " + most);
}

/// How ranks ended that ended in another way than the first.
std::string other_sentence(Summary const& summary, EndSum const& end) {
    std::string const who = capital(end.ranks.text(summary.world_size));
    bool const one = end.ranks.count() == 1;
    std::int64_t const signal = end.how == How::killed ? end.code.value_or(0) : 0;
    if (signal == SIGTERM || signal == SIGKILL)
        return fmt::format("{} {} ended afterwards by the launcher (signal {}), {}.", who, one ? "was" : "were", signal,
                           times_text(end.at_us));
    return fmt::format("{} ended afterwards, {}: {}.", who, times_text(end.at_us),
                       one ? way_and_place(end) : way_text(end.how, end.code));
}

std::string unknown_sentence(Summary const& summary, EndSum const& end, EndSum const& first) {
    std::string const who = end.ranks.text(summary.world_size);
    if (end.at_us.least + k_at_once_us < first.at_us.least)
        return fmt::format("How {} ended is not known here; rank {} was last seen at {} and may have ended before.",
                           who, end.at_us.least_rank, time_text(end.at_us.least));
    return fmt::format("How {} ended is not known here; a launcher ends the other ranks when one has ended so.", who);
}

}  // namespace

std::string_view way_text(How how, std::optional<std::int64_t> code, WayRoom& room) {
    switch (how) {
        case How::aborted:
            return put_into(room, "MPI_Abort({})", code.value_or(0));
        case How::exited:
            if (!code) return "an exit without MPI_Finalize";
            return put_into(room, "exit code {} without MPI_Finalize", *code);
        case How::killed:
            return signal_text(code.value_or(0), room);
        case How::failed:
            return put_into(room, "a fatal error of MPI (code {})", code.value_or(0));
        case How::unknown:
            break;
    }
    return "how is not known here";
}

std::string way_text(How how, std::optional<std::int64_t> code) {
    WayRoom room;
    return std::string(way_text(how, code, room));
}

std::optional<FirstEnd> first_end(Summary const& summary) {
    EndSum const* first = nullptr;
    for (EndSum const& end : summary.ends)
        if (end.how != How::unknown && (first == nullptr || is_earlier(end, *first))) first = &end;
    if (first == nullptr) return std::nullopt;
    return FirstEnd{first};
}

std::string short_first_end(Summary const& summary) {
    std::optional<FirstEnd> const first = first_end(summary);
    if (!first) return {};
    return fmt::format("Rank {} ended{}, {} {}", first->sum->at_us.least_rank, summary.world_size > 1 ? " first" : "",
                       first->sum->how == How::exited ? "with" : "by", way_text(first->sum->how, first->sum->code));
}

std::vector<std::string> about_ends(Summary const& summary) {
    std::vector<std::string> list;
    std::optional<FirstEnd> const first = first_end(summary);
    if (!first) return list;
    list.push_back(first_sentence(summary, *first->sum));
    add_unless_empty(list, same_sentence(summary, *first->sum));
    std::vector<EndSum const*> others;
    EndSum const* unknown = nullptr;
    for (EndSum const& end : summary.ends) {
        if (end.how == How::unknown)
            unknown = &end;
        else if (&end != first->sum)
            others.push_back(&end);
    }
    std::sort(others.begin(), others.end(), [](EndSum const* a, EndSum const* b) { return is_earlier(*a, *b); });
    for (std::size_t i = 0; i < std::min(others.size(), k_most_ways); ++i)
        list.push_back(other_sentence(summary, *others[i]));
    if (others.size() > k_most_ways)
        list.push_back(fmt::format("The others ended in {} more ways.", others.size() - k_most_ways));
    if (unknown != nullptr) list.push_back(unknown_sentence(summary, *unknown, *first->sum));
    return list;
}

}  // namespace sluice::report
