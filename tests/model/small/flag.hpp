// SPDX-License-Identifier: BSD-3-Clause
/// A form for small blocks that was not taken, as a state machine without time: the slots of a
/// rank are regions, each an American flag whose blocks are read from its head and land at its tail.
///
///     region   | landed | vacant | not read |        a block lands in the region of its slot
///                       ^ tail   ^ head
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "model/problem.hpp"

namespace sluice::tests::model {

class Flag {
  public:
    /// `is_repaired`: a block lands in any region where its own has no vacancy, and a rank sends from any slot.
    Flag(Problem const& problem, int region_slots, int channel_capacity, bool is_repaired);

    enum class Kind { send, keep, take, unload };
    struct Step {
        Kind kind;
        int rank;   ///< the acting rank
        int which;  ///< send, keep: the slot; take: the rank it comes from; unload: the spare
        int acting_rank() const { return rank; }
    };

    std::vector<Step> enabled() const;
    void apply(Step step);
    /// Returns whether all blocks have left their rank and arrived.
    bool finished() const;
    /// The number of blocks that have landed outside the region of their slot.
    int strays() const;
    bool is_right() const;
    std::string text() const;

  private:
    /// A block, by its origin and its destination.
    struct Block {
        Address from, to;
    };
    struct Slot {
        std::optional<Block> block;
        bool is_read = false;  ///< the block has landed here, or the slot is vacant
    };
    struct Rank {
        std::vector<Slot> slots;
        std::vector<std::optional<Block>> spares;
        std::vector<std::deque<Block>> channels;  ///< channels to this rank, by sender
    };

    int region_of(int slot) const { return slot / region_slots_; }
    bool may_read(int rank, int slot) const;
    std::optional<std::size_t> vacancy(int rank, int region) const;
    std::optional<std::size_t> landing_slot(int rank, Block const& block) const;
    std::optional<std::size_t> free_spare(int rank) const;
    Slot& slot_of(Step step) {
        return ranks_[static_cast<std::size_t>(step.rank)].slots[static_cast<std::size_t>(step.which)];
    }
    void land(int rank, Block const& block);

    Problem problem_;
    std::vector<Rank> ranks_;
    int region_slots_;
    std::size_t capacity_;
    bool is_repaired_;
};

}  // namespace sluice::tests::model
