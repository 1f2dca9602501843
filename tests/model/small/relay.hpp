// SPDX-License-Identifier: BSD-3-Clause
/// The relay form for small blocks as a state machine without time: a block that arrives changes places with the one in
/// its slot, which travels on.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "model/problem.hpp"

namespace sluice::tests::model {

class Relay {
  public:
    enum class Mistake {
        none,
        waits_for_channels,  ///< a block is taken only if the one in its slot can travel on at once
        keeps_credits,       ///< a rank keeps the credit of a block that comes to rest there
    };
    /// The spares of a rank are its credits: the blocks that it has on their way at once.
    Relay(Problem const& problem, int channel_capacity, Mistake mistake = Mistake::none);

    enum class Kind { give_back, start, take, forward };
    struct Step {
        Kind kind;
        int rank;   ///< the acting rank
        int which;  ///< give_back, take: the other rank; start: the slot; forward: the place in the store
        int acting_rank() const { return rank; }
    };

    std::vector<Step> enabled() const;
    void apply(Step step);
    bool finished() const;
    bool is_right() const;
    std::string text() const;

  private:
    struct Traveller {
        Address from, to;
        int credit;  ///< the rank that gave the credit
    };
    struct Slot {
        std::optional<Address> block;  ///< by its origin
        bool has_left = false;         ///< vacant, or its final content has landed
    };
    struct Rank {
        std::vector<Slot> slots;
        std::vector<std::deque<Traveller>> channels;  ///< channels to this rank, by sender
        std::vector<Traveller> store;                 ///< on their way, waiting here
        std::vector<int> owed;                        ///< credits to give back, by rank
        int credits = 0;
    };

    Rank const& of(int rank) const { return ranks_[static_cast<std::size_t>(rank)]; }
    std::optional<Address> const& destination(int rank, int slot) const {
        return problem_.destination[static_cast<std::size_t>(rank)][static_cast<std::size_t>(slot)];
    }
    bool has_room(int from, int to) const;
    bool may_take(int rank, Traveller const& traveller) const;
    void go(int rank, Traveller const& traveller);
    void land(int rank, Traveller const& traveller);

    Problem problem_;
    std::vector<Rank> ranks_;
    std::size_t capacity_;
    std::size_t all_credits_ = 0;
    Mistake mistake_;
};

}  // namespace sluice::tests::model
