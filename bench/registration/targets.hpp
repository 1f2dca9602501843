// SPDX-License-Identifier: BSD-3-Clause
/// What a shape is to reach, beside what it has reached.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "registration/shapes/shapes.hpp"
#include "registration/turned.hpp"
#include "support/rows.hpp"

namespace sluice::bench {

struct Target {
    std::string what;
    double value;
    std::optional<double> least;  ///< of both one
    std::optional<double> most;
    std::optional<double> best;  ///< what the offline optimum has

    bool is_met() const;
};

struct Compared {
    Outcome ours;
    Outcome pinned;
    Outcome optimum;
    Outcome periodicity;
};

/// Of the figures those that concern the shape.
std::vector<Target> targets_of(Shape const& shape, Compared const& outcomes);
Target time_target(double ours_of_pinned);
Row row_of(Row cell, Target const& target);

}  // namespace sluice::bench
