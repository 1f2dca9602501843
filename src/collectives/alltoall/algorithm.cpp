// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/alltoall/algorithm.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <vector>

#include "collectives/alltoall/rule.hpp"
#include "sluice/error.hpp"

namespace sluice::collectives {

namespace {

bool plain_serves(Facts const& facts) {
    return facts.is_narrow && (facts.is_known || facts.even);
}

bool log_step_serves(Facts const& facts) {
    return facts.even && facts.ranks > 2 && facts.bytes <= k_most_log_step &&
           log_step_staging(facts.ranks, facts.bytes) <= k_most_log_step;
}

bool window_serves(Facts const&) {
    return true;
}

bool pull_serves(Facts const& facts) {
    return facts.one_node && facts.ranks > 1;
}

constexpr std::array k_algorithms{
    AlgorithmEntry{AlltoallAlgorithm::plain, "plain", plain_serves, cost_of_plain, run_plain},
    AlgorithmEntry{AlltoallAlgorithm::log_step, "log_step", log_step_serves, cost_of_log_step, run_log_step},
    AlgorithmEntry{AlltoallAlgorithm::window, "window", window_serves, cost_of_window, run_window},
    AlgorithmEntry{AlltoallAlgorithm::pull, "pull", pull_serves, cost_of_pull, run_pull},
};

}  // namespace

void Problem::tell_of(std::vector<int> members) const {
    std::sort(members.begin(), members.end());
    members.erase(std::unique(members.begin(), members.end()), members.end());
    constexpr std::size_t k_named = engine::Absences::k_most_named;
    std::string names;
    for (int const member : std::span(members).first(std::min(members.size(), k_named)))
        names += (names.empty() ? "rank " : ", rank ") + std::to_string(member);
    if (members.size() > k_named) names += " and " + std::to_string(members.size() - k_named) + " more";
    absences->tell((members.size() == 1 ? " for 1 rank that has not sent its block or taken the one for it: "
                                        : " for " + std::to_string(members.size()) +
                                              " ranks that have not sent their blocks or taken those for them: ") +
                   names);
}

std::span<AlgorithmEntry const> algorithms() noexcept {
    return k_algorithms;
}

AlgorithmEntry const& algorithm_entry(AlltoallAlgorithm id) {
    for (AlgorithmEntry const& entry : k_algorithms)
        if (entry.id == id) return entry;
    throw Error(ErrorCode::internal, "no such all-to-all: " + std::to_string(static_cast<int>(id)));
}

}  // namespace sluice::collectives
