// SPDX-License-Identifier: BSD-3-Clause
/// The problem FT of the NAS Parallel Benchmarks (D. Bailey et al., 1991; NPB 3): du/dt = a laplace(u) with periodic
/// boundaries, from a random state, solved by 3-D FFTs. After each time step a checksum is compared with the published
/// one.
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <span>
#include <string_view>

namespace fft3d {

using Complex = std::complex<double>;

/// A class of the benchmark. The array is stored as [z][y][x].
struct Problem {
    std::string_view name;
    std::int64_t nx;
    std::int64_t ny;
    std::int64_t nz;
    std::array<Complex, 6> sums;  ///< published, after each of the six time steps

    std::int64_t elements() const { return nx * ny * nz; }
};

/// Classes S, W and A; null for another name.
Problem const* problem_named(std::string_view name);

/// Fills the planes of z from `first` on with the random state of the benchmark.
void fill(Problem const& problem, std::span<Complex> planes, std::int64_t first);

/// What a time step multiplies the wave (kx, ky, kz) with, where each k stands for itself or for k - n. Without the
/// factors of the other axes: exp(-4 a pi^2 k^2).
double decay(std::int64_t k, std::int64_t n);

/// The sum of this rank's elements among the 1024 that the benchmark adds up.
Complex checksum(Problem const& problem, std::span<Complex const> planes, std::int64_t first);

/// Whether a sum of all ranks is the published one, to the twelve digits of the benchmark.
bool is_right(Problem const& problem, std::size_t step, Complex sum);

}  // namespace fft3d
