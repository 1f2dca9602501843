// SPDX-License-Identifier: BSD-3-Clause
/// Tries each algorithm that serves in the first calls of a plan, in turns (A B C A B C …), and keeps the one whose
/// fastest call was the fastest. The time of a call is that of its slowest rank.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>

#include "collectives/alltoall/algorithm.hpp"

namespace sluice::collectives {

class Trials {
  public:
    /// Makes each value its maximum over all ranks. Collective.
    using Maxima = std::function<void(std::span<std::uint64_t> values)>;
    /// Turns of each algorithm. The first one warms up as much as it measures, the fastest of the others counts.
    static constexpr unsigned k_turns = 3;
    /// Another algorithm must be this much faster than the MPI's own.
    static constexpr double k_margin = 0.97;

    /// Fits all algorithms; `facts` is equal on all ranks.
    explicit Trials(Facts const& facts);
    /// The algorithm of the next call.
    AlltoallAlgorithm next() const noexcept { return tried_[calls_ % count_]; }
    /// Takes the seconds of the call that next() was for. Returns true if it was the last one; then decide() follows.
    bool take(double seconds) noexcept;
    /// Collective.
    AlltoallAlgorithm decide(Maxima const& maxima);

  private:
    static constexpr std::size_t k_algorithms = 4;
    std::array<AlltoallAlgorithm, k_algorithms> tried_{};
    std::array<std::uint64_t, k_algorithms * k_turns> nanoseconds_{};
    std::size_t count_ = 0;
    std::size_t calls_ = 0;
};

}  // namespace sluice::collectives
