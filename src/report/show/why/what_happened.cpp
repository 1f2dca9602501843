// SPDX-License-Identifier: BSD-3-Clause
#include "report/show/why/what_happened.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <optional>
#include <utility>

#include "report/advice/largest_site.hpp"
#include "report/show/why/awaited.hpp"
#include "report/show/why/ends.hpp"
#include "report/show/words.hpp"

namespace sluice::report {

namespace {

/// Samples are 0.1 s apart.
constexpr std::uint64_t k_sampled_us = 100'000;

/// Returns null if the rank is not among those stored in full.
RankDetail const* detail_of(Summary const& summary, std::uint32_t rank) {
    auto const detail = std::find_if(summary.ranks.begin(), summary.ranks.end(),
                                     [rank](RankDetail const& r) { return r.rank == rank; });
    return detail == summary.ranks.end() ? nullptr : &*detail;
}

std::string where_last(Summary const& summary, RankDetail const& rank) {
    SiteSum const* const site = summary.site(rank.current_site);
    return site != nullptr ? "in " + call_of(*site) : "outside MPI";
}

/// Describes a rank's last state: ", in MPI_Recv at f+0x3 (app) for 0.52 s, holding 1.17 GiB".
std::string last_of(Summary const& summary, std::uint32_t rank) {
    RankDetail const* const detail = detail_of(summary, rank);
    if (detail == nullptr) return {};
    std::string text = ", " + where_last(summary, *detail);
    if (detail->current_since_us > 0 && detail->now_us > detail->current_since_us)
        text += " for " + time_text(detail->now_us - detail->current_since_us);
    if (detail->last.resident > 0) text += ", holding " + kib_text(detail->last.resident);
    return text;
}

/// Says which ranks are gone, and which of them was the first, if of none it is known how it ended.
std::string about_gone(Summary const& summary) {
    RankSet const& gone = summary.in_state(record::State::gone);
    if (gone.count() == 0) return {};
    Spread last;
    for (Whereabouts const& row : summary.now)
        if (row.state == record::State::gone) last.add(row.last_us);
    bool const one = gone.count() == 1;
    std::string const text =
        fmt::format("{} {} gone: killed, or ended without MPI_Finalize; how {} ended is not known here. ",
                    capital(gone.text(summary.world_size)), one ? "is" : "are", one ? "it" : "they");
    if (gone.count() == 1)
        return text +
               fmt::format("It was last seen at {}{}.", time_text(last.least), last_of(summary, last.least_rank));
    if (last.most - last.least < k_at_once_us)
        return text + fmt::format("All were last seen at {}, within {} of each other.", time_text(last.most),
                                  time_text(std::max(last.most - last.least, k_sampled_us)));
    return text + fmt::format("Rank {} was the first, last seen at {}{}; rank {} the last, at {}.", last.least_rank,
                              time_text(last.least), last_of(summary, last.least_rank), last.most_rank,
                              time_text(last.most));
}

std::string about_unknown(Summary const& summary) {
    RankSet const& unknown = summary.in_state(record::State::unknown);
    if (unknown.count() == 0) return {};
    return fmt::format(
        "Whether {} still {} cannot be known from here: the processes are on another node or in another container. Ask "
        "there, or after two minutes.",
        unknown.text(summary.world_size), unknown.count() == 1 ? "runs" : "run");
}

/// The growth of a program that starts is no reason for an end that came later.
bool was_over(Summary const& summary, GrowthSum const& sum) {
    RankDetail const* const rank = detail_of(summary, sum.most_rank);
    return rank != nullptr && rank->last.time_us > sum.most.until_us + 2 * k_sampled_us;
}

/// Says which ranks held most, for a job in which nothing grew at the end.
std::string who_held_most(Summary const& summary) {
    auto const rank =
        std::max_element(summary.ranks.begin(), summary.ranks.end(),
                         [](RankDetail const& a, RankDetail const& b) { return a.last.resident < b.last.resident; });
    if (rank == summary.ranks.end()) return {};
    Owner const owner = *std::max_element(k_owners.begin(), k_owners.end(), [&](Owner a, Owner b) {
        return part_of(rank->last, a) < part_of(rank->last, b);
    });
    return fmt::format("No memory was growing steadily when the records end; rank {} held most, {}, of that {} {}.",
                       rank->rank, kib_text(rank->last.resident), kib_text(part_of(rank->last, owner)), name_of(owner));
}

/// Reports a hang: all ranks have been inside MPI for a long time, so no rank is left that could make progress.
std::string about_hang(Summary const& summary) {
    constexpr std::uint64_t k_long_us = 5'000'000;
    std::uint64_t ranks = 0;
    std::uint64_t least_us = ~std::uint64_t{0};
    for (Whereabouts const& row : summary.now) {
        if (row.site == k_outside) return {};
        ranks += row.ranks.count();
        least_us = std::min(least_us, row.since_us.least);
    }
    if (ranks != summary.world_size || least_us < k_long_us) return {};
    return fmt::format(
        "All ranks were inside MPI for the last {}, each in one call: most likely they wait for each other for "
        "ever.",
        time_text(least_us));
}

/// The owner whose memory grew most on one rank, if any grew.
struct Grower {
    Owner owner;
    GrowthSum const* sum;
};

std::optional<Grower> greatest_growth(Summary const& summary) {
    std::optional<Grower> most;
    for (Owner const owner : k_owners) {
        GrowthSum const& growth = summary.growing[static_cast<std::size_t>(owner)];
        if (growth.ranks.count() > 0 && (!most || growth.most.by_kib() > most->sum->most.by_kib()))
            most = Grower{owner, &growth};
    }
    return most;
}

/// "from 105 MiB to 372 MiB since 1.15 s, 12 MiB/s until the records end, in MPI_Recv at …"
std::string course_of(Summary const& summary, Grower const& grower) {
    Growth const& growth = grower.sum->most;
    double const seconds = static_cast<double>(growth.until_us - growth.since_us) / 1e6;
    std::string text = fmt::format(
        "from {} to {} since {}, {}/s", kib_text(growth.from_kib), kib_text(growth.to_kib), time_text(growth.since_us),
        size_text(static_cast<std::uint64_t>(static_cast<double>(growth.by_kib()) * 1024 / std::max(seconds, 1e-3))));
    RankDetail const* const rank = detail_of(summary, grower.sum->most_rank);
    std::uint64_t const end_us = rank != nullptr ? rank->last.time_us : growth.until_us;
    text += end_us > growth.until_us + 2 * k_sampled_us
                ? fmt::format(", and stood there from {} on", time_text(growth.until_us))
                : std::string(" until the records end");
    bool const of_mpi = grower.owner == Owner::mpi_private || grower.owner == Owner::mpi_shared;
    SiteSum const* const site = greatest(summary, [](SiteSum const& s) { return s.grown.most; });
    if (of_mpi && site != nullptr && is_large(site->grown.most, summary)) return text + ", in " + call_of(*site);
    if (rank != nullptr && !of_mpi) text += "; it was last seen " + where_last(summary, *rank);
    return text;
}

/// How full the fullest node was; 0 if no limit was found.
double fullness(Summary const& summary) {
    if (summary.nodes.empty() || summary.nodes.front().limit == 0) return 0;
    NodeSum const& node = summary.nodes.front();
    return static_cast<double>(node.last_kib()) * 1024 / static_cast<double>(node.limit);
}

/// How many processes the kernel killed for lack of memory before the first rank's end was seen; nothing if that is not
/// known.
std::optional<std::uint64_t> memory_kills(Summary const& summary) {
    std::optional<FirstEnd> const first = first_end(summary);
    if (!first || first->sum->memory_kills.ranks == 0) return std::nullopt;
    return first->sum->memory_kills.most;
}

bool was_killed_for_memory(Summary const& summary) {
    std::optional<FirstEnd> const first = first_end(summary);
    return first && first->is_signal(SIGKILL) && memory_kills(summary).value_or(0) > 0;
}

bool reached_its_limit(Summary const& summary) {
    constexpr double k_reached = 0.9;  // memory may have been taken between the last sample and the kill
    if (was_killed_for_memory(summary)) return true;
    return summary.in_state(record::State::gone).count() > 0 && summary.in_state(record::State::aborted).count() == 0 &&
           fullness(summary) >= k_reached;
}

/// The kernel ends a process with SIGKILL if its control group has no memory left.
bool may_be_memory(Summary const& summary) {
    std::optional<FirstEnd> const first = first_end(summary);
    return !first || first->is_signal(SIGKILL);
}

/// Of a job whose first end is known not to be for lack of memory, only growth that went on is told.
std::string why_growing(Summary const& summary) {
    std::optional<Grower> const most = greatest_growth(summary);
    bool const may_be_the_reason = may_be_memory(summary);
    if (!most || (!reached_its_limit(summary) && was_over(summary, *most->sum)))
        return may_be_the_reason ? who_held_most(summary) : std::string();
    std::string const where =
        most->sum->ranks.count() == 1
            ? fmt::format("rank {} ", most->sum->most_rank)
            : fmt::format("{}, most on rank {}: ", most->sum->ranks.text(summary.world_size), most->sum->most_rank);
    return capital(fmt::format("{} grew on {}{}.", name_of(most->owner), where, course_of(summary, *most)));
}

std::string likely(Summary const& summary) {
    if (!memory_kills(summary)) return " It was most likely killed for lack of memory.";
    // A rank may be in a control group of its own.
    return " It may have been killed for lack of memory, but in the control group of the rank that watched it the "
           "kernel "
           "counts no such kill.";
}

/// An allocation beyond the limit that a process has for itself fails, and the program may end in any way then.
std::string about_own_limit(Summary const& summary) {
    std::optional<FirstEnd> const first = first_end(summary);
    if (!first || first->is_signal(SIGKILL)) return {};
    OwnLimit const& own = first->sum->own;
    if (own.limit == 0 || own.used < own.limit / 4 * 3) return {};
    return fmt::format(
        "Its own limit of {} is {} (ulimit -{}), and it had taken {} of that: most likely an allocation failed.",
        own.is_address_space != 0 ? "address space" : "data", size_text(own.limit),
        own.is_address_space != 0 ? 'v' : 'd', size_text(std::min(own.used, own.limit)));
}

std::string about_limit(Summary const& summary) {
    if (summary.nodes.empty()) return {};
    NodeSum const& node = summary.nodes.front();
    if (node.limit == 0) return "No memory limit was found for the nodes.";
    double const part = fullness(summary);
    // Pages that other processes of the node share, or that are swapped out, count in one of the two figures only.
    std::string const held =
        part > 1 ? fmt::format("its {} held all of {} (100 %)", plural(node.ranks, "rank"), size_text(node.limit))
                 : fmt::format("its {} held {} of {} ({})", plural(node.ranks, "rank"), kib_text(node.last_kib()),
                               size_text(node.limit), percent_text(part, 1));
    if (was_killed_for_memory(summary))
        return fmt::format("The kernel has killed {} for lack of memory: {}.",
                           plural(*memory_kills(summary), "process", "processes"), held);
    if (reached_its_limit(summary))
        return fmt::format("The limit of node {} was reached: {}.", node.node, held) +
               (may_be_memory(summary) ? likely(summary) : std::string());
    if (part >= 0.7)
        return fmt::format("Node {} came close to its limit: {} at the last sample, and more may have come after it.",
                           node.node, held);
    std::string const advice =
        first_end(summary) ? "." : "; look for another reason (a signal, a crash, a time limit).";
    return fmt::format("The limit of the fullest node, {}, was not reached: {}", node.node, held) + advice;
}

/// Says which rank ran out of memory, for a job whose node reached its limit.
std::string lack_of_memory(Summary const& summary) {
    if (!reached_its_limit(summary)) return {};
    std::optional<Grower> const most = greatest_growth(summary);
    // With several nodes it is not known which of them a rank was on.
    if (summary.nodes.size() > 1)
        return fmt::format("Node {} ran out of memory.", summary.nodes.front().node) +
               (most ? " " + why_growing(summary) : std::string());
    if (!most) {
        auto const rank = std::max_element(
            summary.ranks.begin(), summary.ranks.end(),
            [](RankDetail const& a, RankDetail const& b) { return a.last.resident < b.last.resident; });
        if (rank == summary.ranks.end()) return "The node ran out of memory.";
        return fmt::format("The node ran out of memory: rank {} held most, {}, {}.", rank->rank,
                           kib_text(rank->last.resident), where_last(summary, *rank));
    }
    std::string const others = most->sum->ranks.count() == 1 ? std::string()
                                                             : fmt::format(" (the memory of {} grew, its most)",
                                                                           most->sum->ranks.text(summary.world_size));
    return fmt::format("Rank {} ran out of memory: {} grew {}{}.", most->sum->most_rank, name_of(most->owner),
                       course_of(summary, *most), others);
}

/// An end that is known stands before the lack of memory, unless that explains it.
bool leads_with_memory(Summary const& summary) {
    return may_be_memory(summary) && reached_its_limit(summary);
}

}  // namespace

std::string cause_of_end(Summary const& summary) {
    return leads_with_memory(summary) ? lack_of_memory(summary) : short_first_end(summary);
}

std::vector<std::string> what_happened(Summary const& summary) {
    std::vector<std::string> list;
    if (summary.all_ended()) return list;
    std::string const memory = lack_of_memory(summary);
    std::vector<std::string> ends = about_ends(summary);
    if (std::string own = about_own_limit(summary); !own.empty()) ends.insert(ends.begin() + 1, std::move(own));
    if (ends.empty()) add_unless_empty(ends, about_gone(summary));
    ends.insert(leads_with_memory(summary) ? ends.begin() : ends.begin() + (ends.empty() ? 0 : 1), memory);
    for (std::string& line : ends)
        add_unless_empty(list, std::move(line));
    bool const aborted = summary.in_state(record::State::aborted).count() > 0;
    bool const killed = summary.in_state(record::State::gone).count() > 0;
    add_unless_empty(list, about_unknown(summary));
    for (std::string& line : about_awaited(summary))
        list.push_back(std::move(line));
    if (killed || summary.may_run()) add_unless_empty(list, about_hang(summary));
    if (killed && (may_be_memory(summary) || !memory.empty())) add_unless_empty(list, about_limit(summary));
    bool const asks_for_growth = killed || aborted || summary.may_run();
    if (asks_for_growth && memory.empty()) add_unless_empty(list, why_growing(summary));
    if (summary.ranks_seen < summary.world_size)
        list.push_back(
            fmt::format("{} of {} ranks left no record.", summary.world_size - summary.ranks_seen, summary.world_size));
    return list;
}

}  // namespace sluice::report
