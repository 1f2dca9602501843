// SPDX-License-Identifier: BSD-3-Clause
/// Strategy `auto` chooses a strategy by free space, partners, block size and room for copies, from an explicit model.
#pragma once

#include <cstdint>
#include <string>

#include "redistribution/strategies/strategy.hpp"
#include "redistribution/strategies/token/token_form.hpp"

namespace sluice::redistribution {

/// The facts that the choice is made from. Every value is the same on all ranks.
struct Facts {
    int ranks = 1;
    bool one_node = true;                ///< no block leaves its node
    TokenForm token = TokenForm::chain;  ///< the form that token would use
    std::uint64_t block_bytes = 1;
    std::uint64_t staging = 0;        ///< bytes
    std::uint64_t most_slots = 0;     ///< of any rank
    std::uint64_t most_moved = 0;     ///< blocks that come to or leave any one rank
    std::uint64_t all_moved = 0;      ///< blocks that change their rank
    std::uint64_t most_partners = 0;  ///< ranks that any one rank sends to
    std::uint64_t least_free = 0;     ///< free slots of any one rank that sends or receives
    std::uint64_t all_free = 0;
    std::uint64_t first_phase = 0;  ///< blocks for which their new rank has free slots at the start
    std::uint64_t most_phases = 0;  ///< incoming blocks divided by free slots, on the worst rank, rounded up
    bool room_for_copies = false;   ///< every rank has memory for the copies of `alltoallv`
};

/// Predicted seconds, or infinity if the strategy must not be taken.
struct Predictions {
    double token;
    double parking;
    double cyclic;
    double alltoallv;
    double parking_then_cyclic;
};
Predictions predict(Facts const& facts);

/// Predicts the number of parking phases from the free space alone. Each phase fills at most the free slots, and a
/// parked block takes two.
std::uint64_t predict_phases(Facts const& facts);

enum class Way { token, parking, cyclic, alltoallv, parking_then_cyclic };

struct Choice {
    Way way;
    std::string why;
};

/// A pure function. Chooses token, whose memory is bounded whatever the map, unless another strategy is predicted to be
/// clearly faster.
Choice choose_strategy(Facts const& facts);

/// Collective. Gathers the facts of a problem that has both its maps.
Facts gather_facts(Problem const& problem);

/// Collective. Rank 0 chooses from the facts of all ranks.
struct Chosen {
    StrategyEntry const* entry;
    std::string why;
};
Chosen choose_automatically(Problem const& problem);

}  // namespace sluice::redistribution
