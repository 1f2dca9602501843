// SPDX-License-Identifier: BSD-3-Clause
/// A periodic box cut into cubes, dealt to the ranks so that (nearly) every face belongs to another rank.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "sluice/paged.hpp"
#include "sluice/settings.hpp"

namespace jacobi {

constexpr int k_sides = 6;  // -x, +x, -y, +y, -z, +z
constexpr int k_longest_edge = 256;
constexpr int k_longest_row = k_longest_edge + 4;  // with two points of a neighbour at each end

/// Which rank owns a cube.
enum class Deal {
    cards,         ///< the cubes go to the ranks in turn, in the order of their numbers
    checkerboard,  ///< cube (x, y, z) goes to rank (x + y + z) mod ranks, so neighbours belong to different ranks
    hotspot,       ///< rank 0 owns half of the cubes, the others are dealt to the ranks in turn
};

struct Box {
    std::array<int, 3> cubes{4, 4, 4};
    int edge = 16;  // points of a cube along each axis
    int width = 1;  // of the stencil: 1 for 7 points, 2 for 13
    int ranks = 1;
    Deal deal = Deal::cards;

    // For measurements. The box must live as long as its cubes.
    bool computes = true;           // false: faces move, but points stay what they are
    std::function<void()> relaxed;  // called, if set, whenever a cube has made a step

    int count() const { return cubes[0] * cubes[1] * cubes[2]; }
    std::array<int, 3> place(int cube) const {
        return {cube / (cubes[1] * cubes[2]), cube / cubes[2] % cubes[1], cube % cubes[2]};
    }
    int owner(int cube) const;
    int neighbour(int cube, int side) const;
    std::size_t cube_points() const {
        auto const n = static_cast<std::size_t>(edge);
        return n * n * n;
    }
    std::size_t face_points() const {
        return static_cast<std::size_t>(width) * cube_points() / static_cast<std::size_t>(edge);
    }
    static int opposite(int side) { return side ^ 1; }
};

using Ghosts = std::array<std::span<double const>, k_sides>;

/// The points of one cube, before and after a step: two arrays, by the parity of the step.
class Cube {
  public:
    /// Makes a cube in memory of its own, with the initial points.
    Cube(Box const& box, int number);
    /// Makes a cube in the given memory, which it does not own, with Box::cube_points() points each; the points stay as
    /// they are.
    Cube(Box const& box, int number, std::array<std::span<double>, 2> points);
    int number() const { return number_; }

    /// Writes the initial points.
    void fill();

    /// Copies the layers next to a side, as they were after `step` steps (this step or the one before), the outermost
    /// first.
    void pack(int side, int step, std::span<double> out) const;
    /// Makes step `step` + 1: every point becomes the mean of the stencil's points. `ghosts`: the neighbour's layers at
    /// each side.
    void relax(int step, Ghosts const& ghosts);
    /// Returns a checksum of the bits of all points after `step` steps.
    std::uint64_t checksum(int step) const;

  private:
    std::size_t at(int x, int y, int z) const {
        auto const n = static_cast<std::size_t>(edge_);
        return (static_cast<std::size_t>(x) * n + static_cast<std::size_t>(y)) * n + static_cast<std::size_t>(z);
    }
    struct Around;
    Around around(double const* from, Ghosts const& ghosts, int x, int y) const;
    void relax_row(double const* row, Around const& around, Ghosts const& ghosts, int x, int y, double* to) const;

    int number_;
    int edge_;
    int width_;
    Box const* box_;
    std::unique_ptr<double[]> own_;  // null if the memory belongs to another object
    std::array<std::span<double>, 2> points_;
};

/// The numbers of a rank's cubes, and the cubes in their initial state.
std::vector<int> numbers_of(Box const& box, int rank);
std::vector<Cube> cubes_of(Box const& box, int rank);

/// What a form needed on this rank in addition to the cubes.
struct Used {
    std::uint64_t peak_bytes = 0;  ///< of ghost faces and of messages, at one moment
};

/// The three forms. Each makes `steps` steps. The limits of the third are in the settings, by default those of the
/// environment.
Used all_at_once(Box const& box, std::vector<Cube>& cubes, int steps);
Used cube_by_cube(Box const& box, std::vector<Cube>& cubes, int steps);
Used by_fetching(Box const& box, std::vector<Cube>& cubes, int steps);
Used by_fetching(Box const& box, std::vector<Cube>& cubes, int steps, sluice::Settings const& settings);

/// The third form, by the send-based scheme.
Used by_sending(Box const& box, std::vector<Cube>& cubes, int steps);
Used by_sending(Box const& box, std::vector<Cube>& cubes, int steps, sluice::Settings const& settings);

/// The fourth form, for more points than there is memory: the points are in a file (sluice/paged.hpp).
class PagedCubes {
  public:
    /// Collective. The box must outlive this object.
    PagedCubes(Box const& box, int rank, sluice::Settings const& settings = sluice::Settings::from_environment());
    ~PagedCubes();
    PagedCubes(PagedCubes const&) = delete;
    PagedCubes& operator=(PagedCubes const&) = delete;

    /// Makes that many steps from the initial points. Collective; call it once.
    Used relax(int steps);
    /// Returns the sum of Cube::checksum over the cubes of this rank.
    std::uint64_t checksum(int step);
    sluice::PagedReport report() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace jacobi
