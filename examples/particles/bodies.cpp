// SPDX-License-Identifier: BSD-3-Clause
#include "bodies.hpp"

#include <cmath>
#include <numbers>

namespace particles {

namespace {

constexpr double k_depth = 0.5;  // of the wells; most bodies have the energy to pass over the hills between them
constexpr double k_turn = 2 * std::numbers::pi;

double potential(Vector at) {
    return -k_depth * std::cos(k_turn * at.x) * std::cos(k_turn * at.y);
}

Vector force(Vector at) {
    return {-k_depth * k_turn * std::sin(k_turn * at.x) * std::cos(k_turn * at.y),
            -k_depth * k_turn * std::cos(k_turn * at.x) * std::sin(k_turn * at.y)};
}

/// Returns the same numbers in [0, 1) for the same seed everywhere (G. Steele, D. Lea, C. Flood, OOPSLA 2014:
/// SplitMix).
double drawn(std::uint64_t& state) {
    state += 0x9e3779b97f4a7c15;
    std::uint64_t z = state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

double wrapped(double x) {
    double const inside = x - std::floor(x);
    return inside < 1 ? inside : 0;  // a tiny negative x rounds up to 1
}

}  // namespace

void add_body(Bodies& bodies, std::uint64_t id) {
    std::uint64_t state = id * 0x2545f4914f6cdd1d;
    bodies.id.push_back(id);
    bodies.position.push_back({drawn(state), drawn(state)});
    bodies.velocity.push_back({2 * drawn(state) - 1, 2 * drawn(state) - 1});
}

void advance(Bodies& bodies, double time_step) {
    for (std::size_t i = 0; i < bodies.count(); ++i) {
        Vector& position = bodies.position[i];
        Vector& velocity = bodies.velocity[i];
        Vector const before = force(position);
        velocity.x += time_step / 2 * before.x;
        velocity.y += time_step / 2 * before.y;
        position.x = wrapped(position.x + time_step * velocity.x);
        position.y = wrapped(position.y + time_step * velocity.y);
        Vector const after = force(position);
        velocity.x += time_step / 2 * after.x;
        velocity.y += time_step / 2 * after.y;
    }
}

double energy(Bodies const& bodies) {
    double sum = 0;
    for (std::size_t i = 0; i < bodies.count(); ++i) {
        Vector const v = bodies.velocity[i];
        sum += (v.x * v.x + v.y * v.y) / 2 + potential(bodies.position[i]);
    }
    return sum;
}

}  // namespace particles
