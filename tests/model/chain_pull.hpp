// SPDX-License-Identifier: BSD-3-Clause
/// Chain pull as a state machine without time: every order of steps and of messages is a run of it.
///
///     a slot:   occupied ──(its block was fetched, the notice arrived)──> vacant ──(final content landed)──> settled
///     its final content:   at the source ──> in a spare slot ──> landed
///                                       └───────────────────────^   directly, if the slot is vacant
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "model/problem.hpp"

namespace sluice::tests::model {

class ChainPull {
  public:
    /// `local_moves_last` is the mistake of delaying moves inside a rank until no block from outside is still to come.
    explicit ChainPull(Problem const& problem, bool local_moves_last = false);

    enum class Kind { notice, pull, prefetch, land };
    struct Step {
        Kind kind;
        Address slot;  ///< the slot whose final content moves; of a notice: the slot that is vacant
        int acting_rank() const { return slot.rank; }
    };

    /// Returns all steps that some rank could do next; empty at the end, or if the model is stuck.
    std::vector<Step> enabled() const;
    /// Makes one step. Throws std::logic_error if it would lose a block.
    void apply(Step step);
    bool finished() const;
    /// Returns whether every slot with a final source holds that block.
    bool is_right() const;
    std::string text() const;

  private:
    enum class Place { source, spare, landed };
    struct Slot {
        std::optional<Address> content;  ///< the block, named after its first address
        std::optional<Address> source;
        Place final_content = Place::source;
        bool vacant = false;   ///< as far as the owner knows
        bool fetched = false;  ///< its first block has been copied by the rank that needs it
    };

    Slot& at(Address a) { return slots_[static_cast<std::size_t>(a.rank)][static_cast<std::size_t>(a.slot)]; }
    Slot const& at(Address a) const {
        return slots_[static_cast<std::size_t>(a.rank)][static_cast<std::size_t>(a.slot)];
    }
    bool may_fetch(Address slot) const;
    /// Reads the final content of `slot` at its source, which becomes vacant: at once if it is on this rank, otherwise
    /// after a notice.
    Address fetch(Address slot);
    void put(Address slot, Address block);

    std::vector<std::vector<Slot>> slots_;
    std::vector<int> free_spares_;
    std::vector<Address> notices_;  ///< notices on their way, in any order
    bool local_moves_last_;
};

}  // namespace sluice::tests::model
