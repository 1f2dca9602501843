// SPDX-License-Identifier: BSD-3-Clause
/// The walk form for arrays that all ranks map, as a state machine without time: hands of all ranks walk upstream on
/// the same slots; a copy is a step of its own after the claim.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/problem.hpp"

namespace sluice::tests::model {

class Walk {
  public:
    /// The spare slots of a rank are its hands. `live_first` is the mistake of starting at blocks before all free slots
    /// have been started at.
    explicit Walk(Problem const& problem, bool live_first = false);

    enum class Kind { start, claim, copy, put };
    struct Step {
        Kind kind;
        int rank;
        int hand;
        int acting_rank() const { return rank; }
    };

    std::vector<Step> enabled() const;
    void apply(Step step);
    bool finished() const;
    bool is_right() const;
    std::string text() const;

  private:
    enum class State { idle, saving, walking, copying, waiting };
    struct Hand {
        State state = State::idle;
        std::optional<Address> start;  ///< of a saved block
        std::optional<Address> saved;  ///< the block, by its origin
        Address vacant{};
    };
    struct Slot {
        std::optional<Address> block;  ///< by its origin
        bool is_live = false;
        bool is_claimed = false;
        std::optional<Address> told;
    };
    struct Rank {
        std::vector<Slot> slots;
        std::vector<Hand> hands;
        int looked = 0;
    };

    Slot& at(Address address) {
        return ranks_[static_cast<std::size_t>(address.rank)].slots[static_cast<std::size_t>(address.slot)];
    }
    std::optional<Address> source(Address address) const {
        return problem_.source[static_cast<std::size_t>(address.rank)][static_cast<std::size_t>(address.slot)];
    }
    void start(int rank, Hand& hand);
    void claim(Hand& hand);
    void put(Hand& hand, Address to);

    Problem problem_;
    std::vector<Rank> ranks_;
    bool live_first_;
};

}  // namespace sluice::tests::model
