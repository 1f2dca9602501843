// SPDX-License-Identifier: BSD-3-Clause
/// Counts the seconds of each step for the report.
#pragma once

#include <mpi.h>

#include <string>
#include <string_view>

#include "sluice/redistribute.hpp"

namespace sluice::redistribution {

/// Adds the time since the last step to the report. Uses MPI_Wtime, so that simulated seconds are counted under a
/// simulator.
class StepClock {
  public:
    explicit StepClock(RedistributionReport& report) : report_(report), last_(MPI_Wtime()) {}

    void step(std::string_view name) {
        double const now = MPI_Wtime();
        seconds_of(name) += now - last_;
        last_ = now;
    }

  private:
    double& seconds_of(std::string_view name) {
        for (auto& [known, seconds] : report_.steps)
            if (known == name) return seconds;
        return report_.steps.emplace_back(StepTime{std::string(name), 0.0}).seconds;
    }

    RedistributionReport& report_;
    double last_;
};

}  // namespace sluice::redistribution
