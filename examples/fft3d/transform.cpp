// SPDX-License-Identifier: BSD-3-Clause
#include "transform.hpp"

#include <fftw3.h>

#include <algorithm>
#include <vector>

namespace fft3d {

namespace {

fftw_complex* as_fftw(Complex* numbers) {
    return reinterpret_cast<fftw_complex*>(numbers);
}

std::vector<double> decays(std::int64_t n) {
    std::vector<double> all(static_cast<std::size_t>(n));
    for (std::int64_t k = 0; k < n; ++k)
        all[static_cast<std::size_t>(k)] = decay(k, n);
    return all;
}

}  // namespace

/// A batch of one-dimensional transforms in place, which is planned without touching the array.
class Batch {
  public:
    /// `count` transforms of `n` numbers that are `stride` apart; the next transform begins `distance` further.
    Batch(std::int64_t n, std::int64_t count, std::int64_t stride, std::int64_t distance, int sign, Complex* array)
        : group_(group_of(n, count)), groups_(count / group_), distance_(distance) {
        int const extent = static_cast<int>(n);
        int const step = static_cast<int>(stride);
        plan_ = fftw_plan_many_dft(1, &extent, static_cast<int>(group_), as_fftw(array), nullptr, step,
                                   static_cast<int>(distance), as_fftw(array), nullptr, step,
                                   static_cast<int>(distance), sign, FFTW_ESTIMATE | FFTW_UNALIGNED);
    }
    ~Batch() { fftw_destroy_plan(plan_); }
    Batch(Batch const&) = delete;
    Batch& operator=(Batch const&) = delete;
    void run(Complex* array) const {
        for (std::int64_t i = 0; i < groups_; ++i, array += group_ * distance_)
            fftw_execute_dft(plan_, as_fftw(array), as_fftw(array));
    }

  private:
    /// A group needs so little memory that FFTW takes most of it from the stack. More would come from the heap in each
    /// call, and leave holes there if tasks allocate in between.
    static std::int64_t group_of(std::int64_t n, std::int64_t count) {
        constexpr std::int64_t k_most_bytes = 32 << 10;
        std::int64_t group = std::clamp<std::int64_t>(k_most_bytes / (n * std::int64_t{sizeof(Complex)}), 1, count);
        while (count % group != 0)
            --group;
        return group;
    }

    std::int64_t group_;
    std::int64_t groups_;
    std::int64_t distance_;
    fftw_plan plan_ = nullptr;
};

Transform::Transform(Problem const& problem, int sign, Complex* array, Share lines, LineOrder order)
    : problem_(problem),
      order_(order),
      along_x_(new Batch(problem.nx, problem.ny, 1, problem.nx, sign, array)),
      along_y_(new Batch(problem.ny, problem.nx, problem.nx, 1, sign, array)),
      along_z_(order == LineOrder::z_innermost
                   ? new Batch(problem.nz, problem.nx, 1, problem.nz, sign, array)
                   : new Batch(problem.nz, problem.nx, lines.count * problem.nx, 1, sign, array)) {}

Transform::~Transform() = default;

void Transform::planes(Complex* array, Share planes) const {
    for (std::int64_t z = 0; z < planes.count; ++z) {
        Complex* const plane = array + z * problem_.nx * problem_.ny;
        along_x_->run(plane);
        along_y_->run(plane);
    }
}

void Transform::lines(Complex* array, Share lines) const {
    std::int64_t const next = order_ == LineOrder::z_innermost ? problem_.nx * problem_.nz : problem_.nx;
    for (std::int64_t y = 0; y < lines.count; ++y)
        along_z_->run(array + y * next);
}

void evolve(Problem const& problem, Complex* array, Share lines, LineOrder order) {
    std::vector<double> const of_x = decays(problem.nx);
    std::vector<double> const of_y = decays(problem.ny);
    std::vector<double> const of_z = decays(problem.nz);
    auto const scaled = [&](std::int64_t y) {
        return of_y[static_cast<std::size_t>(lines.first + y)] / static_cast<double>(problem.elements());
    };
    if (order == LineOrder::z_innermost) {
        for (std::int64_t y = 0; y < lines.count; ++y)
            for (double const x : of_x)
                for (double const z : of_z)
                    *array++ *= scaled(y) * x * z;
        return;
    }
    for (double const z : of_z)
        for (std::int64_t y = 0; y < lines.count; ++y)
            for (double const x : of_x)
                *array++ *= scaled(y) * x * z;
}

}  // namespace fft3d
