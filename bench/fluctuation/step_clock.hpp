// SPDX-License-Identifier: BSD-3-Clause
/// Measures when the steps of a relaxation end. In a form that fetches, a step does not end everywhere at one moment:
/// on a rank it ends when the rank has relaxed as many cubes as it has.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace sluice::bench {

class StepClock {
  public:
    /// `own_cubes`: the cubes of this rank. The first `warm_up` of `steps` steps are not counted. A rank without cubes
    /// has no steps.
    StepClock(std::uint64_t own_cubes, int steps, int warm_up);

    /// Call it after a barrier.
    void start();
    /// Call it when a cube has made a step.
    void relaxed();
    /// Called at the end of step `step` on this rank, counted from 0.
    std::function<void(int step)> on_step;

    /// Collective. Returns the seconds of each step after the warm-up: from the end of the step before on the slowest
    /// rank.
    std::vector<double> step_seconds() const;
    /// Returns the major page faults of this process since the warm-up ended.
    std::uint64_t major_faults() const;

  private:
    std::uint64_t own_cubes_;
    int warm_up_;
    std::uint64_t relaxed_ = 0;
    double started_ = 0;
    std::vector<double> ends_;  // seconds since the start
    std::uint64_t faults_before_ = 0;
};

}  // namespace sluice::bench
