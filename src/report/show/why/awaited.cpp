// SPDX-License-Identifier: BSD-3-Clause
#include "report/show/why/awaited.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "report/advice/largest_site.hpp"
#include "report/show/words.hpp"

namespace sluice::report {

namespace {

using record::State;

constexpr std::size_t k_most_sentences = 3;
/// A rank that lives may still send; shorter waits are nothing to tell of.
constexpr std::uint64_t k_long_wait_us = 1'000'000;

/// Returns nothing if the rank is not among those that the summary names.
std::optional<State> state_of(Summary const& summary, std::uint64_t rank) {
    for (std::size_t i = 0; i < k_states; ++i) {
        std::vector<std::uint32_t> const& named = summary.states[i].lowest();
        if (std::binary_search(named.begin(), named.end(), rank)) return static_cast<State>(i);
    }
    return std::nullopt;
}

std::string doing(Summary const& summary, std::uint64_t rank) {
    for (RankDetail const& detail : summary.ranks) {
        if (detail.rank != rank) continue;
        SiteSum const* const site = summary.site(detail.current_site);
        if (site == nullptr) return "outside MPI";
        std::string const whom =
            detail.awaited == record::k_no_rank ? std::string() : fmt::format(" for rank {}", detail.awaited);
        return "in " + call_of(*site) + whom;
    }
    return {};
}

/// The ranks of a row that wait for one rank.
struct Waiting {
    Whereabouts const* row;
    std::uint64_t awaited;
    std::optional<State> state;  // of the rank that they wait for
    bool is_over() const {
        // Of two that are gone the one may have waited for what the other was about to send.
        bool const went = state == State::gone && row->state != State::gone;
        return went || state == State::ended || state == State::exited || state == State::aborted ||
               state == State::finalizing;
    }
};

std::string fate_text(Summary const& summary, Waiting const& waiting) {
    switch (waiting.state.value_or(State::unknown)) {
        case State::ended:
            return ", which has ended: no message of it can come any more";
        case State::exited:
            return ", which has ended without MPI_Finalize: no message of it can come any more";
        case State::aborted:
            return ", which has called MPI_Abort";
        case State::finalizing:
            return ", which is in MPI_Finalize: no message of it can come any more";
        case State::gone:
            if (waiting.row->state != State::gone) return ", which is gone: no message of it can come any more";
            break;
        default:
            break;
    }
    std::string const where = doing(summary, waiting.awaited);
    if (where.empty()) return {};
    return (waiting.row->state == State::gone ? ", which was " : ", which is ") + where;
}

}  // namespace

std::vector<std::string> about_awaited(Summary const& summary) {
    std::vector<Waiting> all;
    for (Whereabouts const& row : summary.now) {
        if (row.state == State::aborted) continue;  // it waits for none: a function that the call ran has ended it
        Spread const& awaited = row.awaited;
        if (awaited.ranks == 0 || awaited.ranks != row.ranks.count() || awaited.least != awaited.most) continue;
        Waiting const waiting{&row, awaited.least, state_of(summary, awaited.least)};
        if (waiting.is_over() || row.since_us.most >= k_long_wait_us) all.push_back(waiting);
    }
    std::stable_sort(all.begin(), all.end(), [](Waiting const& a, Waiting const& b) {
        return a.is_over() != b.is_over() ? a.is_over() : a.row->since_us.most > b.row->since_us.most;
    });
    if (all.size() > k_most_sentences) all.resize(k_most_sentences);
    std::vector<std::string> sentences;
    for (Waiting const& waiting : all) {
        Whereabouts const& row = *waiting.row;
        char const* const verb = row.state == State::gone ? "waited" : row.ranks.count() == 1 ? "waits" : "wait";
        sentences.push_back(fmt::format("{} {} in {} for rank {}{}.", capital(row.ranks.text(summary.world_size)), verb,
                                        call_text(row.function, row.place), waiting.awaited,
                                        fate_text(summary, waiting)));
    }
    return sentences;
}

}  // namespace sluice::report
