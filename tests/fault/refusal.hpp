// SPDX-License-Identifier: BSD-3-Clause
/// The effects of a call that must be refused: the same error on every rank, and no change.
#pragma once

#include <gtest/gtest.h>
#include <mpi.h>

#include <functional>
#include <string>
#include <vector>

#include "sluice/context.hpp"
#include "sluice/redistribute.hpp"
#include "support/guarded_array.hpp"

namespace sluice::tests {

/// Returns the strategies that can be requested, `auto` included.
std::vector<Strategy> all_strategies();
std::string strategy_test_name(testing::TestParamInfo<Strategy> const& tested);

/// An array of `count` blocks of 24 bytes on this rank, filled with bytes computed from their addresses, and a valid
/// map: each block goes to the same slot of the next rank, except the last slots, whose blocks stay.
class Bed {
  public:
    explicit Bed(Context& context, std::uint64_t count = 40);

    Blocks blocks() { return array_.blocks(); }
    std::vector<Destination> next_rank() const;
    int rank() const { return rank_; }
    int ranks() const { return ranks_; }
    bool last() const { return rank_ == ranks_ - 1; }
    std::uint64_t count() const { return array_.count(); }

    /// Collective. Expects that `call` throws an error with `code` whose text contains each of `words`, the same text
    /// on all ranks, that the array is unchanged, and that the context still works.
    void expect_refused(std::function<void()> const& call, ErrorCode code, std::vector<std::string> const& words);
    /// Collective. Expects that no byte of the array has changed.
    void expect_untouched() const;
    /// Collective. Moves every block to the next rank and checks it; afterwards the array is as at the start.
    void expect_working(Strategy strategy);
    void fill();

  private:
    Context& context_;
    int rank_;
    int ranks_;
    GuardedArray array_;
};

}  // namespace sluice::tests
