// SPDX-License-Identifier: BSD-3-Clause
/// When the steps of a relaxation end. A form that fetches has no moment at which a step ends everywhere: on a rank it
/// ends when as many cubes were relaxed as the rank has.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace sluice::bench {

class StepClock {
  public:
    /// `own_cubes`: of this rank; the first `warm_up` of `steps` are not counted. A rank without cubes has no steps.
    StepClock(std::uint64_t own_cubes, int steps, int warm_up);

    /// After a barrier.
    void start();
    /// A cube has made a step.
    void relaxed();
    /// Called at the end of step `step` on this rank, counted from 0.
    std::function<void(int step)> on_step;

    /// Collective. Seconds of each step after the warm-up: from when the slowest rank had ended the step before.
    std::vector<double> step_seconds() const;
    /// Major page faults of this process since the warm-up ended.
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
