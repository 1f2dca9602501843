// SPDX-License-Identifier: BSD-3-Clause
/// What the solver does with an array between two transposes: one-dimensional transforms, and a step in time.
#pragma once

#include <cstdint>
#include <memory>

#include "problem.hpp"

namespace fft3d {

/// The planes of z that one part of the array has, or after a transpose the lines of y.
struct Share {
    std::int64_t first = 0;
    std::int64_t count = 0;
};

/// Part `i` of `parts` of 0 … n - 1, as even as possible.
inline Share share_of(std::int64_t n, std::int64_t i, std::int64_t parts) {
    return {n * i / parts, n * (i + 1) / parts - n * i / parts};
}

/// How lines lie in memory: as [y][x][z], or as [z][y][x].
enum class LineOrder { z_innermost, z_outermost };

class Batch;

/// Transforms along all axes in place, in one direction. It is planned once for all parts of an array.
class Transform {
  public:
    /// `sign` is FFTW's: -1 forth, 1 back. `lines` is the share whose lines lie in `order`; with z innermost its number
    /// does not matter. `array` is not touched.
    Transform(Problem const& problem, int sign, Complex* array, Share lines, LineOrder order);
    ~Transform();
    Transform(Transform const&) = delete;
    Transform& operator=(Transform const&) = delete;

    void planes(Complex* array, Share planes) const;  ///< along x and y
    void lines(Complex* array, Share lines) const;    ///< along z

  private:
    Problem const& problem_;
    LineOrder order_;
    std::unique_ptr<Batch> along_x_;  ///< of one plane
    std::unique_ptr<Batch> along_y_;  ///< of one plane
    std::unique_ptr<Batch> along_z_;  ///< of one y
};

/// One time step of all waves of these lines. Also divides by the number of elements, which the transforms forth and
/// back multiply with.
void evolve(Problem const& problem, Complex* array, Share lines, LineOrder order);

}  // namespace fft3d
