// SPDX-License-Identifier: BSD-3-Clause
#include "cube.hpp"

#include <algorithm>
#include <bit>

namespace jacobi {

int Box::owner(int cube) const {
    switch (deal) {
        case Deal::checkerboard: {
            auto const [x, y, z] = place(cube);
            return (x + y + z) % ranks;
        }
        case Deal::hotspot:
            return cube % 2 == 0 ? 0 : cube / 2 % ranks;
        case Deal::cards:
            break;
    }
    return cube % ranks;
}

int Box::neighbour(int cube, int side) const {
    std::array<int, 3> at = place(cube);
    auto const axis = static_cast<std::size_t>(side / 2);
    at[axis] = (at[axis] + (side % 2 == 0 ? cubes[axis] - 1 : 1)) % cubes[axis];
    return (at[0] * cubes[1] + at[1]) * cubes[2] + at[2];
}

Cube::Cube(Box const& box, int number)
    : number_(number), edge_(box.edge), width_(box.width), box_(&box), own_(new double[2 * box.cube_points()]) {
    std::span<double> const all(own_.get(), 2 * box.cube_points());
    points_ = {all.first(box.cube_points()), all.last(box.cube_points())};
    fill();
}

Cube::Cube(Box const& box, int number, std::array<std::span<double>, 2> points)
    : number_(number), edge_(box.edge), width_(box.width), box_(&box), points_(points) {}

void Cube::fill() {
    std::uint64_t random = 0x9e37'79b9'7f4a'7c15ULL * static_cast<std::uint64_t>(number_ + 1);
    for (double& point : points_[0]) {
        random = random * 6364136223846793005ULL + 1442695040888963407ULL;
        point = static_cast<double>(random >> 40) / (1 << 24);
    }
    std::ranges::fill(points_[1], 1.0);
}

void Cube::pack(int side, int step, std::span<double> out) const {
    std::span<double const> const from = points_[static_cast<std::size_t>(step % 2)];
    // The position of point (i, j) of the first layer, and the distance to the next i, j and layer.
    std::array<std::array<std::size_t, 3>, 3> const ways{
        {{at(0, 1, 0), 1, at(1, 0, 0)}, {at(1, 0, 0), 1, at(0, 1, 0)}, {at(1, 0, 0), at(0, 1, 0), 1}}};
    auto const [to_i, to_j, to_layer] = ways[static_cast<std::size_t>(side / 2)];
    auto const n = static_cast<std::size_t>(edge_);
    double* next = out.data();
    for (std::size_t layer = 0; layer < static_cast<std::size_t>(width_); ++layer)
        for (std::size_t i = 0; i < n; ++i) {
            double const* const row = from.data() + (side % 2 == 0 ? layer : n - 1 - layer) * to_layer + i * to_i;
            if (to_j == 1)
                std::copy_n(row, n, next);
            else
                for (std::size_t j = 0; j < n; ++j)
                    next[j] = row[j * to_j];
            next += n;
        }
}

/// The rows on both sides of a row along x and y, of this cube or of a neighbour's layers, by distance.
struct Cube::Around {
    std::array<std::array<double const*, 4>, 2> rows{};
};

Cube::Around Cube::around(double const* from, Ghosts const& ghosts, int x, int y) const {
    auto const ghost_row = [&](int side, int layer, int i) {
        auto const n = static_cast<std::size_t>(edge_);
        return ghosts[static_cast<std::size_t>(side)].data() +
               (static_cast<std::size_t>(layer) * n + static_cast<std::size_t>(i)) * n;
    };
    Around around;
    for (int d = 1; d <= width_; ++d)
        around.rows[static_cast<std::size_t>(d - 1)] = {
            x - d >= 0 ? from + at(x - d, y, 0) : ghost_row(0, d - x - 1, y),
            x + d < edge_ ? from + at(x + d, y, 0) : ghost_row(1, x + d - edge_, y),
            y - d >= 0 ? from + at(x, y - d, 0) : ghost_row(2, d - y - 1, x),
            y + d < edge_ ? from + at(x, y + d, 0) : ghost_row(3, y + d - edge_, x)};
    return around;
}

/// Computes the means of one row along z; the values beyond its ends come from the neighbours.
void Cube::relax_row(double const* row, Around const& around, Ghosts const& ghosts, int x, int y, double* to) const {
    auto const n = static_cast<std::size_t>(edge_);
    auto const w = static_cast<std::size_t>(width_);
    double const share = 1.0 / (1 + k_sides * width_);
    // The row with `width` points of a neighbour at each end.
    std::array<double, k_longest_row> long_row;
    double* const own = long_row.data() + w;
    std::copy_n(row, n, own);
    for (std::size_t d = 0; d < w; ++d) {
        std::size_t const place = (d * n + static_cast<std::size_t>(x)) * n + static_cast<std::size_t>(y);
        *(own - 1 - d) = ghosts[4][place];
        own[n + d] = ghosts[5][place];
    }
    auto const& one = around.rows[0];
    auto const& two = around.rows[1];
    if (w == 1)
        for (std::size_t z = 0; z < n; ++z)
            to[z] = share * (own[z] + one[0][z] + one[1][z] + one[2][z] + one[3][z] + *(own + z - 1) + own[z + 1]);
    else
        for (std::size_t z = 0; z < n; ++z)
            to[z] = share * (own[z] + one[0][z] + one[1][z] + one[2][z] + one[3][z] + *(own + z - 1) + own[z + 1] +
                             two[0][z] + two[1][z] + two[2][z] + two[3][z] + *(own + z - 2) + own[z + 2]);
}

void Cube::relax(int step, Ghosts const& ghosts) {
    double const* const from = points_[static_cast<std::size_t>(step % 2)].data();
    double* const to = points_[static_cast<std::size_t>((step + 1) % 2)].data();
    for (int x = 0; box_->computes && x < edge_; ++x)
        for (int y = 0; y < edge_; ++y)
            relax_row(from + at(x, y, 0), around(from, ghosts, x, y), ghosts, x, y, to + at(x, y, 0));
    if (box_->relaxed) box_->relaxed();
}

std::uint64_t Cube::checksum(int step) const {
    std::uint64_t sum = static_cast<std::uint64_t>(number_);
    for (double const point : points_[static_cast<std::size_t>(step % 2)])
        sum = (sum ^ std::bit_cast<std::uint64_t>(point)) * 0x100000001b3ULL;
    return sum;
}

std::vector<int> numbers_of(Box const& box, int rank) {
    std::vector<int> numbers;
    for (int number = 0; number < box.count(); ++number)
        if (box.owner(number) == rank) numbers.push_back(number);
    return numbers;
}

std::vector<Cube> cubes_of(Box const& box, int rank) {
    std::vector<Cube> cubes;
    for (int const number : numbers_of(box, rank))
        cubes.emplace_back(box, number);
    return cubes;
}

}  // namespace jacobi
