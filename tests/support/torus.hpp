// SPDX-License-Identifier: BSD-3-Clause
/// Dimension-order routes of a torus, worked out by hand: the simulator's routes are compared with them.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "madre/lower_bound.hpp"

namespace sluice::test {

/// Ranks are numbered x first. A route corrects x, then y, then z, in the shorter direction; if both are equal it goes
/// up.
class Torus {
  public:
    explicit Torus(std::array<int, 3> sizes, double bytes_per_second)
        : sizes_(sizes), bytes_per_second_(bytes_per_second) {}

    std::span<bench::RouteLink const> operator()(int from, int to) {
        route_.clear();
        std::array<int, 3> at = coordinates(from);
        std::array<int, 3> const goal = coordinates(to);
        for (std::size_t axis = 0; axis < 3; ++axis)
            while (at[axis] != goal[axis]) {
                int const size = sizes_[axis];
                int const ahead = (goal[axis] - at[axis] + size) % size;
                bool const up = 2 * ahead <= size;
                // A link is named by its start and its direction, one of six.
                route_.push_back(
                    {static_cast<std::size_t>(rank_at(at)) * 6 + axis * 2 + (up ? 1 : 0), bytes_per_second_});
                at[axis] = (at[axis] + (up ? 1 : size - 1)) % size;
            }
        return route_;
    }

  private:
    std::array<int, 3> coordinates(int rank) const {
        return {rank % sizes_[0], rank / sizes_[0] % sizes_[1], rank / sizes_[0] / sizes_[1]};
    }
    int rank_at(std::array<int, 3> const& at) const { return at[0] + sizes_[0] * (at[1] + sizes_[1] * at[2]); }

    std::array<int, 3> sizes_;
    double bytes_per_second_;
    std::vector<bench::RouteLink> route_;
};

}  // namespace sluice::test
