// SPDX-License-Identifier: BSD-3-Clause
/// The five experiments of MADRE's Figure 3 (S. Siegel and A. Siegel, EuroPVM/MPI 2008, section 3) as maps of any size.
///
/// The paper's arrays have 25,000 blocks; here the number is an argument, and the shares of free space are those of the
/// paper.
#pragma once

#include <cstdint>

#include "sluice/redistribute.hpp"

namespace sluice::bench {

/// One point of one curve. It is computed from the arguments alone, so every rank knows the whole map.
class Experiment {
  public:
    /// `number` is 1 to 5. `free_blocks` matters only in experiment 3, which varies it. Throws Error(invalid_argument)
    /// if there is no such experiment, or the numbers leave nothing to move.
    Experiment(int number, int ranks, std::uint64_t blocks, std::uint64_t free_blocks = 0);

    int number() const noexcept { return number_; }
    int ranks() const noexcept { return ranks_; }
    std::uint64_t blocks() const noexcept { return blocks_; }

    /// Blocks [0, live) of that rank hold data, the others are free.
    std::uint64_t live(int rank) const noexcept;
    /// Returns where a live block goes.
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
