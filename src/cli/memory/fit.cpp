// SPDX-License-Identifier: BSD-3-Clause
#include "cli/memory/fit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace sluice::cli {

namespace {

std::size_t terms_of(Law law) {
    return static_cast<std::size_t>(law) + 1;
}

std::array<double, 3> powers_of(double x) {
    return {1, x, x * x};
}

/// Inverts the first `size` rows and columns (Gauss and Jordan, with pivoting).
std::array<std::array<double, 3>, 3> inverse_of(std::array<std::array<double, 3>, 3> matrix, std::size_t size) {
    std::array<std::array<double, 3>, 3> inverse{};
    for (std::size_t i = 0; i < size; ++i)
        inverse[i][i] = 1;
    for (std::size_t column = 0; column < size; ++column) {
        std::size_t pivot = column;
        for (std::size_t row = column + 1; row < size; ++row)
            if (std::abs(matrix[row][column]) > std::abs(matrix[pivot][column])) pivot = row;
        if (std::abs(matrix[pivot][column]) < 1e-12)
            throw std::invalid_argument("too few different numbers of ranks for a law of " + std::to_string(size) +
                                        " coefficients");
        std::swap(matrix[pivot], matrix[column]);
        std::swap(inverse[pivot], inverse[column]);
        double const by = matrix[column][column];
        for (std::size_t k = 0; k < size; ++k) {
            matrix[column][k] /= by;
            inverse[column][k] /= by;
        }
        for (std::size_t row = 0; row < size; ++row) {
            if (row == column) continue;
            double const times = matrix[row][column];
            for (std::size_t k = 0; k < size; ++k) {
                matrix[row][k] -= times * matrix[column][k];
                inverse[row][k] -= times * inverse[column][k];
            }
        }
    }
    return inverse;
}

/// Returns the root mean square of the errors of the law for each sample when it is fitted to the others.
double error_of_left_out(Law law, std::vector<Sample> const& samples, double grain) {
    double sum = 0;
    for (std::size_t out = 0; out < samples.size(); ++out) {
        std::vector<Sample> others = samples;
        others.erase(others.begin() + static_cast<std::ptrdiff_t>(out));
        double const missed = Fit::of(law, others, grain).at(samples[out].ranks).value - samples[out].value;
        sum += missed * missed;
    }
    return std::max(std::sqrt(sum / static_cast<double>(samples.size())), grain / std::sqrt(12.0));
}

}  // namespace

Fit Fit::of(Law law, std::vector<Sample> const& samples, double grain) {
    std::size_t const terms = terms_of(law);
    if (samples.size() < terms)
        throw std::invalid_argument(std::to_string(samples.size()) + " numbers of ranks are too few for a law of " +
                                    std::to_string(terms) + " coefficients");
    Fit fit;
    fit.law_ = law;
    fit.scale_ = 0;
    for (Sample const& sample : samples)
        fit.scale_ = std::max(fit.scale_, sample.ranks);
    Matrix normal{};
    std::array<double, 3> right{};
    for (Sample const& sample : samples) {
        std::array<double, 3> const x = powers_of(sample.ranks / fit.scale_);
        for (std::size_t i = 0; i < terms; ++i) {
            right[i] += x[i] * sample.value;
            for (std::size_t j = 0; j < terms; ++j)
                normal[i][j] += x[i] * x[j];
        }
    }
    fit.inverse_ = inverse_of(normal, terms);
    std::array<double, 3> const scales = powers_of(fit.scale_);
    for (std::size_t i = 0; i < terms; ++i) {
        for (std::size_t j = 0; j < terms; ++j)
            fit.coefficients_[i] += fit.inverse_[i][j] * right[j];
        fit.coefficients_[i] /= scales[i];
    }
    fit.freedom_ = samples.size() - terms;
    double squares = 0;
    double spread = 0;
    for (Sample const& sample : samples) {
        std::array<double, 3> const x = powers_of(sample.ranks);
        double missed = sample.value;
        for (std::size_t i = 0; i < terms; ++i)
            missed -= fit.coefficients_[i] * x[i];
        squares += missed * missed;
        spread += sample.spread * sample.spread;
    }
    double const around = fit.freedom_ > 0 ? std::sqrt(squares / static_cast<double>(fit.freedom_)) : 0;
    fit.residual_ =
        std::max({around, std::sqrt(spread / static_cast<double>(samples.size())), grain / std::sqrt(12.0)});
    return fit;
}

Fit Fit::choose(std::vector<Sample> const& samples, Law richest, double grain) {
    Law best = Law::constant;
    double least = samples.size() > 1 ? error_of_left_out(Law::constant, samples, grain) : 0;
    for (Law const law : {Law::affine, Law::quadratic}) {
        // A law needs one sample more than coefficients, so that one can be left out to measure its error.
        if (law > richest || samples.size() < terms_of(law) + 1) break;
        double const error = error_of_left_out(law, samples, grain);
        Fit const fit = of(law, samples, grain);
        double const slope_at_the_end = fit.coefficients_[1] + 2 * fit.coefficients_[2] * fit.scale_;
        bool const bends_down = fit.coefficients_[terms_of(law) - 1] < 0 || slope_at_the_end < 0;
        if (error > least / 2 || bends_down) continue;
        best = law;
        least = error;
    }
    return of(best, samples, grain);
}

Interval Fit::at(double ranks) const {
    std::array<double, 3> const x = powers_of(ranks);
    std::array<double, 3> const scaled = powers_of(ranks / scale_);
    std::size_t const terms = terms_of(law_);
    double value = 0;
    double leverage = 0;
    for (std::size_t i = 0; i < terms; ++i) {
        value += coefficients_[i] * x[i];
        for (std::size_t j = 0; j < terms; ++j)
            leverage += scaled[i] * inverse_[i][j] * scaled[j];
    }
    double const half = student(freedom_) * residual_ * std::sqrt(1 + leverage);
    return {value, value - half, value + half};
}

double student(std::size_t degrees_of_freedom) {
    static constexpr std::array<double, 30> table{
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
        2.120,  2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};
    if (degrees_of_freedom == 0) return std::numeric_limits<double>::infinity();
    return degrees_of_freedom <= table.size() ? table[degrees_of_freedom - 1] : 2.042;
}

char const* name_of(Law law) {
    switch (law) {
        case Law::constant:
            return "constant";
        case Law::affine:
            return "affine";
        case Law::quadratic:
            return "quadratic";
    }
    return "";
}

}  // namespace sluice::cli
