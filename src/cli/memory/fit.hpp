// SPDX-License-Identifier: BSD-3-Clause
/// How an amount grows with the number of ranks: least squares, and how far a prediction may be off.
#pragma once

#include <array>
#include <string>
#include <vector>

namespace sluice::cli {

/// An amount at one number of ranks: the median of several runs.
struct Sample {
    double ranks;
    double value;
    double spread;  ///< standard error of the median, from the runs
};

enum class Law { constant, affine, quadratic };

struct Interval {
    double value;
    double low;
    double high;
};

/// value(P) = a + b P + c P²; coefficients that the law does not have are 0.
class Fit {
  public:
    /// Returns the law of the given form nearest to the samples. Throws std::invalid_argument with fewer samples than
    /// coefficients. `grain`: amounts are counted in steps of that size, so a residual below it means nothing.
    static Fit of(Law law, std::vector<Sample> const& samples, double grain);

    /// Returns the simplest law that predicts each sample, when it is fitted to the others, nearly as well as any
    /// richer law does: a richer law must halve that error, and must neither bend downwards nor fall at the most ranks
    /// measured. `richest` bounds the search.
    static Fit choose(std::vector<Sample> const& samples, Law richest, double grain);

    /// Returns the value with the 95 % prediction interval of least squares for one further measurement at that many
    /// ranks. The interval holds only if the law does, which nothing proves beyond the measured numbers of ranks.
    Interval at(double ranks) const;

    Law law() const { return law_; }
    std::array<double, 3> const& coefficients() const { return coefficients_; }
    /// Returns the standard deviation of a measurement around the law: never less than the differences between runs,
    /// nor than the grain.
    double residual() const { return residual_; }

  private:
    using Matrix = std::array<std::array<double, 3>, 3>;
    Law law_ = Law::constant;
    std::array<double, 3> coefficients_{};
    Matrix inverse_{};  // of the normal equations, in units of `scale_`
    double scale_ = 1;  // ranks are divided by it, otherwise P⁴ outweighs the other terms
    double residual_ = 0;
    std::size_t freedom_ = 0;
};

/// Returns the 97.5 % point of Student's distribution.
double student(std::size_t degrees_of_freedom);

char const* name_of(Law law);

}  // namespace sluice::cli
