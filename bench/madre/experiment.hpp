// SPDX-License-Identifier: BSD-3-Clause
/// The five experiments of MADRE's Figure 3 (S. Siegel and A. Siegel, EuroPVM/MPI 2008, section 3) as maps of any size.
///
/// The paper's arrays have 25,000 blocks; here `blocks` is free, and the shares of free space stay the paper's.
#pragma once

#include <cstdint>

#include "sluice/redistribute.hpp"

namespace sluice::bench {

/// One point of one curve. Pure arithmetic: every rank can compute the whole map.
class Experiment {
  public:
    /// `number` 1 to 5; `free_blocks` counts only for experiment 3, where it is what varies.
    /// Throws Error(invalid_argument) when there is no such experiment, or the numbers leave nothing to move.
    Experiment(int number, int ranks, std::uint64_t blocks, std::uint64_t free_blocks = 0);

    int number() const noexcept { return number_; }
    int ranks() const noexcept { return ranks_; }
    std::uint64_t blocks() const noexcept { return blocks_; }

    /// Blocks [0, live) of that rank hold something, the others are free.
    std::uint64_t live(int rank) const noexcept;
    /// Where a live block goes.
    Destination destination(int rank, std::uint64_t block) const noexcept;

  private:
    Destination to_the_next_rank(int rank, std::uint64_t block) const noexcept;
    Destination scattered(int rank, std::uint64_t block) const noexcept;
    Destination transposed(int rank, std::uint64_t block) const noexcept;

    int number_;
    int ranks_;
    std::uint64_t blocks_;
    std::uint64_t live_;
};

}  // namespace sluice::bench
