// SPDX-License-Identifier: BSD-3-Clause
/// The scan form for small blocks as a state machine without time: blocks go through bounded channels, one for each
/// pair of ranks, into any vacant place, and each rank permutes its own slots at the end.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "model/problem.hpp"

namespace sluice::tests::model {

class Scan {
  public:
    /// `one_cursor` is the mistake of a scan that waits at a full channel instead of continuing with other blocks.
    Scan(Problem const& problem, int channel_capacity, bool one_cursor = false);

    enum class Kind { append, take };
    struct Step {
        Kind kind;
        int rank;   ///< the acting rank
        int which;  ///< append: the slot; take: the rank it comes from
        int acting_rank() const { return rank; }
    };

    std::vector<Step> enabled() const;
    void apply(Step step);
    /// Returns whether all blocks have left their rank and arrived.
    bool finished() const;
    /// Permutes each rank's places until its blocks are where they belong; throws std::logic_error if that is
    /// impossible.
    void settle();
    bool is_right() const;
    std::string text() const;

  private:
    /// A block, by its origin and its destination.
    struct Block {
        Address from, to;
    };
    struct Rank {
        std::vector<std::optional<Block>> places;  ///< own slots, then spare ones
        std::vector<std::deque<Block>> channels;   ///< channels to this rank, by sender
    };

    bool leaves(int rank, int place) const;
    std::optional<std::size_t> landing_place(int rank, Block const& block) const;

    Problem problem_;
    std::vector<Rank> ranks_;
    std::size_t capacity_;
    bool one_cursor_;
};

}  // namespace sluice::tests::model
