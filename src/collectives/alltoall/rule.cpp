// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/alltoall/rule.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

namespace sluice::collectives {

namespace {

/// Another algorithm must be expected to be this much faster than the MPI's own: costs are estimates.
constexpr double k_margin = 0.95;

/// Seconds of a message and of a byte, to one rank of the same node.
struct Line {
    double message;
    double byte;
    double of(double messages, double bytes) const noexcept { return messages * message + bytes * byte; }
};

/// Blocks of a size that an MPI moves in one manner.
struct Range {
    double up_to;  ///< bytes
    Line plain;
    Line plain_lists;  ///< with a list of counts
    Line window;
};

/// Fitted to figures of one machine with two processors; `sluice bench alltoall` measures them again.
struct Costs {
    bool pull_pays;  ///< where the bytes are not known
    double crowd;    ///< by how much more large blocks of the MPI's own cost for each rank after `crowd_from`
    int crowd_from;
    Line log_step;
    Line pull;
    std::array<Range, 3> ranges;
};

constexpr double k_any = std::numeric_limits<double>::infinity();

#if defined(MPICH_VERSION)
// At 2 ranks its own calls take 8.0 µs for 8 KiB, a message and a copy 5.3 µs; for 32 KiB 10.9 and 7.2 µs; from 64 KiB
// on MPI_Alltoall is as fast as reads, and MPI_Alltoallv takes 1.5 to 1.9 times their time. Large blocks lose to reads
// with more ranks than processors: 0.97 of the time of MPI_Alltoall at 2 ranks, 0.75 at 4, 0.54 at 8.
constexpr Costs k_costs{.pull_pays = true,
                        .crowd = 0.15,
                        .crowd_from = 2,
                        .log_step = {0.8e-6, 0.3e-9},
                        .pull = {3.5e-6, 0.105e-9},
                        .ranges = {{{4096, {0.4e-6, 0.2e-9}, {0.4e-6, 0.2e-9}, {0.46e-6, 0.2e-9}},
                                    {32768, {3.2e-6, 0.2e-9}, {3.2e-6, 0.2e-9}, {0.9e-6, 0.2e-9}},
                                    {k_any, {2e-6, 0.1e-9}, {4e-6, 0.17e-9}, {2.1e-6, 0.11e-9}}}}};
#else
// It reads as we do: 1.00 of its time at 2 ranks, 1.03 at 4, 0.88 at 8.
constexpr Costs k_costs{.pull_pays = false,
                        .crowd = 0.033,
                        .crowd_from = 4,
                        .log_step = {0.5e-6, 0.4e-9},
                        .pull = {5e-6, 0.175e-9},
                        .ranges = {{{4096, {0.2e-6, 0.3e-9}, {0.2e-6, 0.3e-9}, {0.35e-6, 0.3e-9}},
                                    {32768, {2e-6, 0.17e-9}, {2e-6, 0.17e-9}, {2.1e-6, 0.17e-9}},
                                    {k_any, {2e-6, 0.17e-9}, {2e-6, 0.17e-9}, {2.1e-6, 0.17e-9}}}}};
#endif

/// Nothing is known of more ranks on a node.
constexpr int k_most_ranks_measured = 8;

double peers_of(Facts const& facts) noexcept {
    return static_cast<double>(facts.ranks - 1);
}

/// Large blocks weigh more for the MPI's own call and its messages, the more ranks there are.
double pairwise(Facts const& facts, Line Range::*which) noexcept {
    auto const bytes = static_cast<double>(facts.bytes);
    auto const* range = k_costs.ranges.begin();
    while (bytes > range->up_to)
        ++range;
    int const crowd = std::clamp(facts.ranks, k_costs.crowd_from, k_most_ranks_measured) - k_costs.crowd_from;
    bool const is_large = range + 1 == k_costs.ranges.end();
    double const weight = is_large ? 1 + k_costs.crowd * crowd : 1;
    return (range->*which).of(peers_of(facts), peers_of(facts) * bytes * weight);
}

}  // namespace

/// MPIs have log-step algorithms of their own for small blocks of many ranks.
double cost_of_plain(Facts const& facts) {
    double const each = pairwise(facts, facts.has_lists ? &Range::plain_lists : &Range::plain);
    return facts.even && facts.ranks > 1 ? std::min(each, cost_of_log_step(facts)) : each;
}

double cost_of_window(Facts const& facts) {
    return pairwise(facts, &Range::window);
}

double cost_of_log_step(Facts const& facts) {
    auto const steps = static_cast<double>(std::bit_width(static_cast<unsigned>(facts.ranks - 1)));
    double const carried = steps * static_cast<double>(facts.ranks) / 2 * static_cast<double>(facts.bytes);
    return k_costs.log_step.of(steps, carried);
}

double cost_of_pull(Facts const& facts) {
    // Below that size it does as the window does.
    bool const is_cheaper = !facts.is_known && k_costs.pull_pays;
    if (facts.bytes < k_pulled_from) return cost_of_window(facts) * (is_cheaper ? 0.9 : 1.1);
    return k_costs.pull.of(peers_of(facts), peers_of(facts) * static_cast<double>(facts.bytes));
}

bool is_candidate(AlgorithmEntry const& entry, Facts const& facts) {
    if (!entry.serves(facts)) return false;
    if (entry.id != AlltoallAlgorithm::plain) return true;
    auto const peers = static_cast<std::uint64_t>(facts.ranks - 1);
    return 2 * peers * std::min(facts.bytes, k_held_of_message) <= facts.room;
}

AlltoallAlgorithm choose(Facts const& facts) {
    // Costs are known inside a node only.
    AlgorithmEntry const& plain = algorithm_entry(AlltoallAlgorithm::plain);
    if (!facts.one_node && is_candidate(plain, facts)) return plain.id;
    AlgorithmEntry const* best = nullptr;
    double least = 0;
    for (AlgorithmEntry const& entry : algorithms()) {
        if (!is_candidate(entry, facts)) continue;
        double const cost = entry.cost(facts) * (entry.id == AlltoallAlgorithm::plain ? k_margin : 1);
        if (best == nullptr || cost < least) {
            best = &entry;
            least = cost;
        }
    }
    return best->id;
}

AlltoallAlgorithm granted(AlltoallAlgorithm wished, Facts const& facts) {
    if (wished == AlltoallAlgorithm::automatic || wished == AlltoallAlgorithm::measured) return choose(facts);
    return algorithm_entry(wished).serves(facts) ? wished : AlltoallAlgorithm::window;
}

}  // namespace sluice::collectives
