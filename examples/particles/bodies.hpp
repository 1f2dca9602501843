// SPDX-License-Identifier: BSD-3-Clause
/// Bodies in a fixed potential in a periodic square of side 1, as a structure of arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace particles {

struct Vector {
    double x = 0;
    double y = 0;
    bool operator==(Vector const&) const = default;
};

struct Bodies {
    std::size_t count() const { return id.size(); }

    std::vector<Vector> position;
    std::vector<Vector> velocity;
    std::vector<std::uint64_t> id;
};

/// Appends body `id` as it is at time 0, which does not depend on the rank.
void add_body(Bodies& bodies, std::uint64_t id);

/// One step of the leapfrog (kick, drift, kick): symplectic, so the energy of a body swings a little and does not
/// drift. Each body moves by itself: the potential is constant, and bodies do not act on each other.
void advance(Bodies& bodies, double time_step);

/// Returns the kinetic and potential energy of the bodies on this rank.
double energy(Bodies const& bodies);

}  // namespace particles
