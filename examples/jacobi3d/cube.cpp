#include "cube.hpp"

#include <algorithm>
#include <bit>

namespace jacobi {

int Box::neighbour(int cube, int side) const {
    std::array<int, 3> place{cube / (cubes[1] * cubes[2]), cube / cubes[2] % cubes[1], cube % cubes[2]};
    auto const axis = static_cast<std::size_t>(side / 2);
    place[axis] = (place[axis] + (side % 2 == 0 ? cubes[axis] - 1 : 1)) % cubes[axis];
    return (place[0] * cubes[1] + place[1]) * cubes[2] + place[2];
}

Cube::Cube(Box const& box, int number)
    : number_(number), edge_(box.edge), width_(box.width), own_(new double[2 * box.cube_points()]) {
    std::span<double> const all(own_.get(), 2 * box.cube_points());
    points_ = {all.first(box.cube_points()), all.last(box.cube_points())};
    fill();
}

Cube::Cube(Box const& box, int number, std::array<std::span<double>, 2> points)
    : number_(number), edge_(box.edge), width_(box.width), points_(points) {}

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
    std::size_t next = 0;
    for (int layer = 0; layer < width_; ++layer) {
        int const depth = side % 2 == 0 ? layer : edge_ - 1 - layer;
        for (int i = 0; i < edge_; ++i)
            for (int j = 0; j < edge_; ++j)
                out[next++] = from[side / 2 == 0 ? at(depth, i, j) : side / 2 == 1 ? at(i, depth, j) : at(i, j, depth)];
    }
}

/// Of a point of this cube, or of the neighbour's layers next to it; at most one coordinate is outside.
double Cube::value(std::span<double const> from, Ghosts const& ghosts, int x, int y, int z) const {
    auto const ghost = [&](int side, int out, int i, int j) {
        auto const n = static_cast<std::size_t>(edge_);
        auto const layer = static_cast<std::size_t>(side % 2 == 0 ? -1 - out : out - edge_);
        std::size_t const place = (layer * n + static_cast<std::size_t>(i)) * n + static_cast<std::size_t>(j);
        return ghosts[static_cast<std::size_t>(side)][place];
    };
    if (x < 0 || x >= edge_) return ghost(x < 0 ? 0 : 1, x, y, z);
    if (y < 0 || y >= edge_) return ghost(y < 0 ? 2 : 3, y, x, z);
    if (z < 0 || z >= edge_) return ghost(z < 0 ? 4 : 5, z, x, y);
    return from[at(x, y, z)];
}

double Cube::mean_at_rim(std::span<double const> from, Ghosts const& ghosts, int x, int y, int z) const {
    double sum = from[at(x, y, z)];
    for (int d = 1; d <= width_; ++d)
        sum += value(from, ghosts, x - d, y, z) + value(from, ghosts, x + d, y, z) + value(from, ghosts, x, y - d, z) +
               value(from, ghosts, x, y + d, z) + value(from, ghosts, x, y, z - d) + value(from, ghosts, x, y, z + d);
    return sum / (1 + k_sides * width_);
}

void Cube::relax(int step, Ghosts const& ghosts) {
    std::span<double const> const from = points_[static_cast<std::size_t>(step % 2)];
    std::span<double> const to = points_[static_cast<std::size_t>((step + 1) % 2)];
    auto const inside = [this](int i) { return i >= width_ && i < edge_ - width_; };
    std::size_t const row = at(0, 1, 0);
    std::size_t const plane = at(1, 0, 0);
    for (int x = 0; x < edge_; ++x)
        for (int y = 0; y < edge_; ++y)
            for (int z = 0; z < edge_; ++z) {
                std::size_t const p = at(x, y, z);
                if (!inside(x) || !inside(y) || !inside(z)) {
                    to[p] = mean_at_rim(from, ghosts, x, y, z);
                    continue;
                }
                double sum = from[p];  // in the order of mean_at_rim: the same bits
                for (std::size_t d = 1; d <= static_cast<std::size_t>(width_); ++d)
                    sum += from[p - d * plane] + from[p + d * plane] + from[p - d * row] + from[p + d * row] +
                           from[p - d] + from[p + d];
                to[p] = sum / (1 + k_sides * width_);
            }
}

std::uint64_t Cube::checksum(int step) const {
    std::uint64_t sum = static_cast<std::uint64_t>(number_);
    for (double const point : points_[static_cast<std::size_t>(step % 2)])
        sum = (sum ^ std::bit_cast<std::uint64_t>(point)) * 0x100000001b3ULL;
    return sum;
}

std::vector<Cube> cubes_of(Box const& box, int rank) {
    std::vector<Cube> cubes;
    for (int number = 0; number < box.count(); ++number)
        if (box.owner(number) == rank) cubes.emplace_back(box, number);
    return cubes;
}

}  // namespace jacobi
