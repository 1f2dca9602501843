// SPDX-License-Identifier: BSD-3-Clause
/// Chain pull as a state machine without time: every order of steps and of messages is a run of it.
///
///     a slot:   occupied ──(its block was fetched, the notice arrived)──> vacant ──(final content landed)──> settled
///     its final content:   at the source ──> in a spare slot ──> landed
///                                       └───────────────────────^   straight, when the slot is vacant
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "model/problem.hpp"

namespace sluice::tests::model {

class ChainPull {
  public:
    /// `local_moves_last` is the mistake of leaving moves inside a rank until nothing else is left to come to it.
    explicit ChainPull(Problem const& problem, bool local_moves_last = false);

    enum class Kind { notice, pull, prefetch, land };
    struct Step {
        Kind kind;
        Address slot;  ///< whose final content moves; of a notice: the slot that is vacant
        int acting_rank() const { return slot.rank; }
    };

    /// All steps that some rank could do next; empty at the end or when stuck.
    std::vector<Step> enabled() const;
    /// Does one of them. Throws std::logic_error where it would lose a block.
    void apply(Step step);
    bool finished() const;
    /// Every slot with a final source holds that block.
    bool is_right() const;
    std::string text() const;

  private:
    enum class Place { source, spare, landed };
    struct Slot {
        std::optional<Address> content;  ///< the block by its first address
        std::optional<Address> source;
        Place final_content = Place::source;
        bool vacant = false;   ///< as far as the owner knows
        bool fetched = false;  ///< its first block has been copied by whoever needs it
    };

    Slot& at(Address a) { return slots_[static_cast<std::size_t>(a.rank)][static_cast<std::size_t>(a.slot)]; }
    Slot const& at(Address a) const {
        return slots_[static_cast<std::size_t>(a.rank)][static_cast<std::size_t>(a.slot)];
    }
    bool may_fetch(Address slot) const;
    /// Reads the final content of `slot` at its source, which falls vacant: at once here, after a notice elsewhere.
    Address fetch(Address slot);
    void put(Address slot, Address block);

    std::vector<std::vector<Slot>> slots_;
    std::vector<int> free_spares_;
    std::vector<Address> notices_;  ///< on their way, in any order
    bool local_moves_last_;
};

}  // namespace sluice::tests::model
