// SPDX-License-Identifier: BSD-3-Clause
/// Pool as a state machine without time: chain pull in which each block goes through a place that its receiver has
/// named to its owner.
///
///     a slot's final content:   at the source ──ask──> place taken ──answer──> in the place ──land──> in the slot
///                                     └──move──────────(on the same rank, slot vacant)─────────────────────^
///
/// The places of a rank are divided: some for blocks that are fetched ahead, for slots that are not vacant yet, the
/// others for vacant slots.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/problem.hpp"

namespace sluice::tests::model {

class PoolPull {
  public:
    /// `problem.spares`: the places of each rank for blocks that are fetched ahead; `landing`: those for vacant slots.
    /// `one_store` is the mistake of letting both kinds take any place.
    PoolPull(Problem const& problem, int landing, bool one_store = false);

    enum class Kind { answer, ask, ask_ahead, move, land };
    struct Step {
        Kind kind;
        Address slot;  ///< the slot whose final content is asked for, copied or landed
        int actor;     ///< of an answer: the owner of the block
        int acting_rank() const { return actor; }
    };

    /// Returns all steps that some rank could do next; empty at the end, or if the model is stuck.
    std::vector<Step> enabled() const;
    /// Makes one step. Throws std::logic_error if it would lose a block or give a place twice.
    void apply(Step step);
    bool finished() const;
    /// Returns whether every slot with a final source holds that block, and all places are free.
    bool is_right() const;
    std::string text() const;

  private:
    enum class Content { at_source, asked, in_place, landed };
    struct Slot {
        std::optional<Address> content;  ///< the block, named after its first address
        std::optional<Address> source;
        Content final_content = Content::at_source;
        bool vacant = false;
        bool ahead = false;  ///< the place is one of those for blocks that are fetched ahead
    };
    struct Places {
        int ahead = 0;
        int landing = 0;
    };

    Slot& at(Address a) { return slots_[static_cast<std::size_t>(a.rank)][static_cast<std::size_t>(a.slot)]; }
    Slot const& at(Address a) const {
        return slots_[static_cast<std::size_t>(a.rank)][static_cast<std::size_t>(a.slot)];
    }
    int& free_places(int rank, bool ahead) {
        Places& places = free_[static_cast<std::size_t>(rank)];
        return ahead && !one_store_ ? places.ahead : places.landing;
    }
    bool has_place(int rank, bool ahead) const {
        Places const& places = free_[static_cast<std::size_t>(rank)];
        return (ahead && !one_store_ ? places.ahead : places.landing) > 0;
    }
    void copy_out(Address slot);
    void put(Address slot);

    std::vector<std::vector<Slot>> slots_;
    std::vector<Places> free_;
    std::vector<Places> all_;
    bool one_store_;
};

}  // namespace sluice::tests::model
