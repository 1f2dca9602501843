// SPDX-License-Identifier: BSD-3-Clause
/// Small redistribution problems for the models of the protocols, drawn at random.
#pragma once

#include <optional>
#include <random>
#include <string>
#include <vector>

namespace sluice::tests::model {

using Random = std::mt19937_64;

/// Uniform in [least, most].
int draw(Random& random, int least, int most);
bool draw_chance(Random& random, double probability);

struct Address {
    int rank = 0;
    int slot = 0;
    bool operator==(Address const&) const = default;
};

/// A valid map (every address is used at most once, so all blocks fit) and the number of spare slots of each rank.
struct Problem {
    std::vector<std::vector<std::optional<Address>>>
        destination;  ///< [rank][slot]: where the block goes; empty if the slot is free
    std::vector<std::vector<std::optional<Address>>>
        source;  ///< the inverse: where the slot's final content comes from
    std::vector<int> spares;

    int ranks() const { return static_cast<int>(destination.size()); }
    int slots(int rank) const { return static_cast<int>(destination[static_cast<std::size_t>(rank)].size()); }
    std::string text() const;
};

std::string text_of(Address address);

/// Draws 1 to 6 ranks with 0 to 6 slots each, from full to empty, and maps that mix, that stay inside ranks, that go to
/// the next rank, or that leave blocks where they are. Each rank has `least_spares` to 3 spare slots.
Problem random_problem(Random& random, int least_spares);

}  // namespace sluice::tests::model
