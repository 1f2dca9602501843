// SPDX-License-Identifier: BSD-3-Clause
#include "problem.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace fft3d {

namespace {

constexpr std::array<Problem, 3> k_problems{{
    {"S",
     64,
     64,
     64,
     {{{554.6087004964, 484.5363331978},
       {554.6385409189, 486.5304269511},
       {554.6148406171, 488.3910722336},
       {554.5423607415, 490.1273169046},
       {554.4255039624, 491.7475857993},
       {554.2683411902, 493.2597244941}}}},
    {"W",
     128,
     128,
     32,
     {{{567.3612178944, 529.3246849175},
       {563.1436885271, 528.2149986629},
       {559.4024089970, 527.0996558037},
       {556.0698047020, 526.0027904925},
       {553.0898991250, 524.9400845633},
       {550.4159734538, 523.9212247086}}}},
    {"A",
     256,
     256,
     128,
     {{{504.6735008193, 511.4047905510},
       {505.9412319734, 509.8809666433},
       {506.9376896287, 509.8144042213},
       {507.7892868474, 510.1336130759},
       {508.5233095391, 510.4914655194},
       {509.1487099959, 510.7917842803}}}},
}};

/// The random numbers of the benchmark: x = 5^13 x mod 2^46, of which products of 64 bits keep all that counts.
class Random {
  public:
    /// As after `drawn` numbers.
    explicit Random(std::uint64_t drawn) : state_(k_seed * power(drawn)) {}
    double next() {
        state_ *= k_factor;
        return static_cast<double>(state_ & k_mask) * 0x1p-46;
    }

  private:
    static constexpr std::uint64_t k_factor = 1220703125;
    static constexpr std::uint64_t k_seed = 314159265;
    static constexpr std::uint64_t k_mask = (std::uint64_t{1} << 46) - 1;

    static std::uint64_t power(std::uint64_t exponent) {
        std::uint64_t result = 1;
        for (std::uint64_t base = k_factor; exponent > 0; exponent /= 2, base *= base)
            if (exponent % 2 != 0) result *= base;
        return result;
    }

    std::uint64_t state_;
};

}  // namespace

Problem const* problem_named(std::string_view name) {
    auto const found = std::ranges::find(k_problems, name, &Problem::name);
    return found == k_problems.end() ? nullptr : &*found;
}

void fill(Problem const& problem, std::span<Complex> planes, std::int64_t first) {
    Random random(static_cast<std::uint64_t>(2 * problem.nx * problem.ny * first));
    for (Complex& element : planes) {
        double const real = random.next();
        element = {real, random.next()};
    }
}

double decay(std::int64_t k, std::int64_t n) {
    constexpr double k_alpha = 1e-6;
    std::int64_t const half = n / 2;
    auto const wave = static_cast<double>((k + half) % n - half);
    return std::exp(-4 * k_alpha * std::numbers::pi * std::numbers::pi * wave * wave);
}

Complex checksum(Problem const& problem, std::span<Complex const> planes, std::int64_t first) {
    std::int64_t const plane = problem.nx * problem.ny;
    auto const count = static_cast<std::int64_t>(planes.size()) / plane;
    Complex sum = 0;
    for (std::int64_t j = 1; j <= 1024; ++j) {
        std::int64_t const z = 5 * j % problem.nz - first;
        if (z < 0 || z >= count) continue;
        sum += planes[static_cast<std::size_t>(z * plane + 3 * j % problem.ny * problem.nx + j % problem.nx)];
    }
    return sum;
}

bool is_right(Problem const& problem, std::size_t step, Complex sum) {
    constexpr double k_error = 1e-12;
    Complex const right = problem.sums[step];
    return std::abs((sum.real() - right.real()) / right.real()) <= k_error &&
           std::abs((sum.imag() - right.imag()) / right.imag()) <= k_error;
}

}  // namespace fft3d
