// SPDX-License-Identifier: BSD-3-Clause
/// Strategy `auto` chooses a strategy by free space, partners, block size and room for copies, from an explicit model.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "redistribution/strategies/curves.hpp"
#include "redistribution/strategies/strategy.hpp"
#include "redistribution/strategies/token/token_form.hpp"

namespace sluice::redistribution {

/// The facts that the choice is made from. Every value is the same on all ranks.
struct Facts {
    int ranks = 1;
    bool one_node = true;     ///< no block leaves its node
    bool is_crowded = false;  ///< the node has more ranks than processors
    bool has_curves = false;  ///< the node has rings and is the whole context: `curves` are its costs
    Curves curves{};
    TokenForm token = TokenForm::chain;  ///< the form that token would use
    std::uint64_t block_bytes = 1;
    std::uint64_t staging = 0;         ///< bytes
    std::uint64_t most_slots = 0;      ///< of any rank
    std::uint64_t most_moved = 0;      ///< blocks that come to or leave any one rank
    std::uint64_t most_live = 0;       ///< the same and those that change their slot on the rank
    std::uint64_t all_moved = 0;       ///< blocks that change their rank
    std::uint64_t all_live = 0;        ///< blocks that leave their slots
    std::uint64_t least_in_order = 0;  ///< on any one rank, MovesInMap::share_in_order()
    std::uint64_t most_partners = 0;   ///< ranks that any one rank sends to
    std::uint64_t least_free = 0;      ///< free slots of any one rank that sends or receives
    std::uint64_t all_free = 0;
    std::uint64_t first_phase = 0;  ///< blocks for which their new rank has free slots at the start
    std::uint64_t most_phases = 0;  ///< incoming blocks divided by free slots, on the worst rank, rounded up
    bool room_for_copies = false;   ///< every rank has memory for the copies of `alltoallv`
};

/// What the blocks of a rank cost depends on, counted block by block.
struct MovesInMap {
    std::uint64_t in_place = 0;  ///< blocks that stay in their slots
    std::uint64_t in_order = 0;  ///< blocks that move and go right behind the block before them
    Destination next{-1, 0};     ///< right behind the last block

    static bool is_in_place(int rank, std::uint64_t slot, Destination const& to) noexcept {
        return to.rank == rank && static_cast<std::uint64_t>(to.index) == slot;
    }
    /// `slot`: of a block of this rank with a destination.
    void add(int rank, std::uint64_t slot, Destination const& to) noexcept {
        bool const stays = is_in_place(rank, slot, to);
        in_place += stays ? 1 : 0;
        in_order += !stays && to == next ? 1 : 0;
        next = {to.rank, static_cast<std::int64_t>(static_cast<std::uint64_t>(to.index) + 1)};
    }
    /// Of a thousand of the `moving` blocks; all of none.
    std::uint64_t share_in_order(std::uint64_t moving) const noexcept;
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

/// Pure functions. Where there is no room for copies: token, whose memory is bounded whatever the map, unless parking
/// or cyclic is predicted to be clearly faster. Where there is: alltoallv, unless token is predicted to be faster
/// beyond doubt.
Choice choose_strategy(Facts const& facts);
/// The same of token and alltoallv alone, with room for copies.
Choice choose_form(Facts const& facts);

/// Local: whether copies of `bytes` fit into three quarters of the memory left now and of what the context keeps, if
/// each of `sharers` ranks takes as many.
bool has_room(engine::ContextState& context, std::uint64_t sharers, Bytes bytes);

/// Token, if it is chosen even though all of `most_live` blocks of a rank change their rank: then nothing needs to be
/// counted.
std::optional<Choice> choose_token_at_once(Facts facts, std::uint64_t most_live);

/// The facts that need no map; the same on all ranks.
Facts early_facts(MapFacts const& map, std::uint64_t block_bytes, Bytes staging);

/// Collective. Gathers the facts of a problem that has both its maps. `may_copy`: whether alltoallv may be chosen.
Facts gather_facts(Problem const& problem, bool may_copy = true);

/// Collective. Rank 0 chooses from the facts of all ranks.
struct Chosen {
    StrategyEntry const* entry;
    std::string why;
};
Chosen choose_automatically(Problem const& problem, bool may_copy);

}  // namespace sluice::redistribution
