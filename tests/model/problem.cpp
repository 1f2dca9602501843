// SPDX-License-Identifier: BSD-3-Clause
#include "model/problem.hpp"

#include <algorithm>
#include <sstream>

namespace sluice::tests::model {

namespace {

/// Reorders `targets` so that many pairs (source, target) satisfy `wanted`, as far as a few random swaps achieve this.
template <typename Wanted>
void prefer(Random& random, std::vector<Address> const& sources, std::vector<Address>& targets, Wanted wanted) {
    for (std::size_t i = 0; i < targets.size(); ++i) {
        if (wanted(sources[i], targets[i]) || draw_chance(random, 0.2)) continue;
        auto const found = std::find_if(targets.begin() + static_cast<std::ptrdiff_t>(i), targets.end(),
                                        [&](Address target) { return wanted(sources[i], target); });
        if (found != targets.end()) std::iter_swap(targets.begin() + static_cast<std::ptrdiff_t>(i), found);
    }
}

}  // namespace

int draw(Random& random, int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(random);
}

bool draw_chance(Random& random, double probability) {
    return std::bernoulli_distribution(probability)(random);
}

std::string text_of(Address address) {
    return std::to_string(address.rank) + "." + std::to_string(address.slot);
}

std::string Problem::text() const {
    std::ostringstream text;
    for (int rank = 0; rank < ranks(); ++rank) {
        auto const& row = destination[static_cast<std::size_t>(rank)];
        text << "rank " << rank << " (" << spares[static_cast<std::size_t>(rank)] << " spare):";
        for (auto const& to : row)
            text << ' ' << (to ? text_of(*to) : "-");
        text << '\n';
    }
    return text.str();
}

Problem random_problem(Random& random, int least_spares) {
    Problem problem;
    std::vector<Address> addresses;
    int const ranks = draw(random, 1, 6);
    for (int rank = 0; rank < ranks; ++rank) {
        int const slots = draw(random, 0, 6);
        problem.destination.emplace_back(static_cast<std::size_t>(slots));
        problem.source.emplace_back(static_cast<std::size_t>(slots));
        problem.spares.push_back(draw(random, least_spares, 3));
        for (int slot = 0; slot < slots; ++slot)
            addresses.push_back({rank, slot});
    }

    std::vector<Address> sources = addresses;
    std::vector<Address> targets = addresses;
    std::shuffle(sources.begin(), sources.end(), random);
    std::shuffle(targets.begin(), targets.end(), random);
    int const all = static_cast<int>(addresses.size());
    int const live = draw_chance(random, 0.5) ? all : draw(random, 0, all);
    sources.resize(static_cast<std::size_t>(live));
    switch (draw(random, 0, 3)) {
        case 0:
            prefer(random, sources, targets, [](Address from, Address to) { return from.rank == to.rank; });
            break;
        case 1:
            prefer(random, sources, targets,
                   [=](Address from, Address to) { return to.rank == (from.rank + 1) % ranks; });
            break;
        case 2:
            prefer(random, sources, targets, [](Address from, Address to) { return from == to; });
            break;
        default:
            break;
    }
    targets.resize(static_cast<std::size_t>(live));

    for (std::size_t i = 0; i < sources.size(); ++i) {
        auto const [from_rank, from_slot] = sources[i];
        auto const [to_rank, to_slot] = targets[i];
        problem.destination[static_cast<std::size_t>(from_rank)][static_cast<std::size_t>(from_slot)] = targets[i];
        problem.source[static_cast<std::size_t>(to_rank)][static_cast<std::size_t>(to_slot)] = sources[i];
    }
    return problem;
}

}  // namespace sluice::tests::model
