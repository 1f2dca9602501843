// SPDX-License-Identifier: BSD-3-Clause
/// How a loop waits when it looks for work and finds none.
#pragma once

#include <mpi.h>
#include <sched.h>

#include <cstdint>
#include <limits>

#include "kernel/progress.hpp"

namespace sluice::engine {

/// What the loop does after each look in vain, counted since something last moved:
///
///     | spins: look again at once | yields: offer the core to others | sleep |
///
struct WaitPolicy {
    static constexpr std::uint64_t k_for_ever = std::numeric_limits<std::uint64_t>::max() / 2;
    std::uint64_t spins = 0;
    std::uint64_t yields = k_for_ever;
};

class Patience {
  public:
    explicit Patience(WaitPolicy policy) noexcept : policy_(policy) {}

    /// The loop calls this after each look; `moved` says whether the look moved anything.
    void after(bool moved) {
        after(moved, [] { return false; });
    }

    /// `fall_asleep` sleeps until an operation ends or a peer acts; if it has nothing to wait for it returns false, and
    /// the core is offered to others.
    template <typename Sleep>
    void after(bool moved, Sleep const& fall_asleep) {
        if (moved) {
            in_vain_ = 0;
            return;
        }
        ++in_vain_;
        if (in_vain_ <= policy_.spins) return;
        if (in_vain_ <= policy_.spins + policy_.yields || !fall_asleep()) sched_yield();
    }

    std::uint64_t in_vain() const noexcept { return in_vain_; }

  private:
    WaitPolicy policy_;
    std::uint64_t in_vain_ = 0;
};

/// The same for a loop that drives a Progress. If nothing has moved for a while, the loop calls Progress::stall(),
/// because a bounded pool may have to go beyond its bound. After its spins the loop sleeps if some work completes
/// without a peer.
class ProgressPatience {
  public:
    /// After this many seconds without movement the loop calls Progress::stall().
    static constexpr double k_stall = 0.001;

    ProgressPatience(kernel::Progress& progress, std::uint64_t spins) noexcept
        : progress_(progress), patience_({.spins = spins, .yields = 0}) {}

    void after(bool moved, double stall = k_stall) {
        if (!moved) stall_after(stall);
        patience_.after(moved, [this] { return progress_.wait_a_moment(); });
    }

  private:
    void stall_after(double seconds) {
        double const now = MPI_Wtime();
        if (patience_.in_vain() == 0) since_ = now;
        if (now - since_ < seconds) return;
        progress_.stall();
        since_ = now;
    }

    kernel::Progress& progress_;
    Patience patience_;
    double since_ = 0;
};

}  // namespace sluice::engine
