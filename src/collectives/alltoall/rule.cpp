// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/alltoall/rule.hpp"

#include <bit>

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

/// Fitted to figures of `sluice bench alltoall`. Up to `small` bytes an MPI copies a message twice at once, beyond it
/// the two sides meet first.
struct Costs {
    bool pull_pays;  ///< where the bytes are not known
    double small;
    Line plain_small;
    Line plain_large;
    Line log_step;
    Line window_small;
    Line window_large;
    Line pull;
};

#if defined(MPICH_VERSION)
constexpr Costs k_costs{.pull_pays = true,
                        .small = 8192,
                        .plain_small = {0.5e-6, 0.3e-9},
                        .plain_large = {2e-6, 0.2e-9},
                        .log_step = {1e-6, 0.4e-9},
                        .window_small = {0.6e-6, 0.3e-9},
                        .window_large = {2.1e-6, 0.2e-9},
                        .pull = {5e-6, 0.15e-9}};
#else
constexpr Costs k_costs{.pull_pays = false,
                        .small = 4096,
                        .plain_small = {0.5e-6, 0.3e-9},
                        .plain_large = {2e-6, 0.15e-9},
                        .log_step = {1e-6, 0.4e-9},
                        .window_small = {0.6e-6, 0.3e-9},
                        .window_large = {2.1e-6, 0.15e-9},
                        .pull = {5e-6, 0.15e-9}};
#endif

double peers_of(Facts const& facts) noexcept {
    return static_cast<double>(facts.ranks - 1);
}

double pairwise(Facts const& facts, Line const& small, Line const& large) noexcept {
    auto const bytes = static_cast<double>(facts.bytes);
    return (bytes <= k_costs.small ? small : large).of(peers_of(facts), peers_of(facts) * bytes);
}

}  // namespace

double cost_of_plain(Facts const& facts) {
    return pairwise(facts, k_costs.plain_small, k_costs.plain_large);
}

double cost_of_window(Facts const& facts) {
    return pairwise(facts, k_costs.window_small, k_costs.window_large);
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

AlltoallAlgorithm choose(Facts const& facts) {
    AlgorithmEntry const* best = nullptr;
    double least = 0;
    for (AlgorithmEntry const& entry : algorithms()) {
        if (!entry.serves(facts)) continue;
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
