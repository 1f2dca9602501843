// SPDX-License-Identifier: BSD-3-Clause
#include "cli/memory/fit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace sluice::cli {
namespace {

double value_of(std::array<double, 3> const& law, double ranks) {
    return law[0] + law[1] * ranks + law[2] * ranks * ranks;
}

std::vector<Sample> samples_of(std::array<double, 3> const& law, std::vector<double> const& counts) {
    std::vector<Sample> samples;
    for (double const ranks : counts)
        samples.push_back({ranks, value_of(law, ranks), 0});
    return samples;
}

std::vector<double> const k_counts{2, 4, 6, 8, 12, 16};

TEST(MemoryFit, finds_a_law_that_is_there) {
    struct Known {
        std::array<double, 3> law;
        Law form;
    };
    for (Known const& known :
         {Known{{3e6, 0, 0}, Law::constant}, Known{{3e6, 5000, 0}, Law::affine}, Known{{1e5, 7e4, 800}, Law::quadratic},
          Known{{0, 0, 4096}, Law::quadratic}, Known{{-1e5, 1e6, 0}, Law::affine}}) {
        Fit const fit = Fit::choose(samples_of(known.law, k_counts), Law::quadratic, 64);
        EXPECT_EQ(name_of(fit.law()), std::string(name_of(known.form)));
        for (std::size_t i = 0; i < 3; ++i)
            EXPECT_NEAR(fit.coefficients().at(i), known.law.at(i), 1e-6 * (1 + known.law[0] + known.law[1]));
        double const there = value_of(known.law, 4096);
        EXPECT_NEAR(fit.at(4096).value, there, 1e-6 * std::abs(there) + 1);
    }
}

TEST(MemoryFit, does_not_take_the_grain_for_growth) {
    std::vector<Sample> samples = samples_of({1e6, 0, 0}, k_counts);
    for (std::size_t i = 0; i < samples.size(); ++i)
        samples[i].value += i % 2 == 0 ? 1000 : 0;  // a quarter of a page
    EXPECT_EQ(Fit::choose(samples, Law::quadratic, 4096).law(), Law::constant);
}

TEST(MemoryFit, keeps_to_the_richest_law_it_may_take) {
    EXPECT_EQ(Fit::choose(samples_of({0, 0, 4096}, k_counts), Law::affine, 64).law(), Law::affine);
    EXPECT_EQ(Fit::choose(samples_of({0, 0, 4096}, k_counts), Law::constant, 64).law(), Law::constant);
}

TEST(MemoryFit, does_not_predict_that_an_mpi_shrinks) {
    EXPECT_EQ(Fit::choose(samples_of({1e6, -1e4, 0}, k_counts), Law::quadratic, 64).law(), Law::constant);
}

TEST(MemoryFit, of_a_perfect_law_still_has_a_band_and_it_widens_with_the_distance) {
    Fit const fit = Fit::choose(samples_of({3e6, 5000, 0}, k_counts), Law::quadratic, 4096);
    Interval const near = fit.at(16);
    Interval const far = fit.at(4096);
    EXPECT_GT(near.high - near.low, 4096);
    EXPECT_GT(far.high - far.low, 100 * (near.high - near.low));
}

TEST(MemoryFit, knows_the_interval_of_a_textbook) {
    // y = 1, 3, 2 at x = 1, 2, 3: mean 2, slope 0.5, s² = 1.5, one degree of freedom; at x = 4 the leverage is 7/3.
    Fit const fit = Fit::of(Law::affine, {{1, 1, 0}, {2, 3, 0}, {3, 2, 0}}, 1e-9);
    Interval const at = fit.at(4);
    EXPECT_NEAR(at.value, 3, 1e-9);
    EXPECT_NEAR(at.high - at.value, 12.706 * std::sqrt(1.5) * std::sqrt(1 + 7.0 / 3), 1e-6);
}

TEST(MemoryFit, refuses_what_cannot_be_fitted) {
    EXPECT_THROW(Fit::of(Law::affine, {{2, 1, 0}}, 1), std::invalid_argument);
    EXPECT_THROW(Fit::of(Law::affine, {{2, 1, 0}, {2, 1, 0}}, 1), std::invalid_argument);
    EXPECT_TRUE(std::isinf(Fit::of(Law::affine, {{2, 1, 0}, {3, 1, 0}}, 1).at(4).high));
}

/// Returns how many of `tries` laws with noise have a held-out measurement inside the band that the others give.
int held_out_inside(Law form, int tries, double held_out, std::mt19937_64& random) {
    std::uniform_real_distribution<double> part(0, 1);
    auto const draw = [&] { return part(random); };
    int inside = 0;
    for (int i = 0; i < tries; ++i) {
        double const noise = 5000 * draw() + 500;
        std::array<double, 3> law{5e6 * draw(), 0, 0};
        if (form >= Law::affine) law[1] = 2e4 + 2e5 * draw();
        if (form == Law::quadratic) law[2] = 2000 + 2e4 * draw();
        std::normal_distribution<double> around(0, noise);
        std::vector<Sample> samples = samples_of(law, k_counts);
        for (Sample& sample : samples)
            sample.value += around(random);
        Interval const band = Fit::choose(samples, Law::quadratic, 64).at(held_out);
        double const measured = value_of(law, held_out) + around(random);
        if (band.low <= measured && measured <= band.high) ++inside;
    }
    return inside;
}

TEST(MemoryFit, has_bands_that_cover_measurements_it_has_not_seen) {
    std::mt19937_64 random(20110918);
    constexpr int tries = 1000;
    for (Law const form : {Law::constant, Law::affine, Law::quadratic})
        for (double const held_out : {3.0, 10.0, 24.0, 64.0}) {
            int const inside = held_out_inside(form, tries, held_out, random);
            // The band holds for 95 % of laws whose form was found; choosing the form by the same samples costs a few.
            EXPECT_GE(inside, tries * 90 / 100) << name_of(form) << " at " << held_out;
        }
}

TEST(MemoryFit, has_bands_that_are_not_simply_wide) {
    std::mt19937_64 random(7);
    std::normal_distribution<double> around(0, 1000);
    std::vector<Sample> samples = samples_of({1e6, 5e4, 0}, k_counts);
    for (Sample& sample : samples)
        sample.value += around(random);
    Interval const band = Fit::choose(samples, Law::quadratic, 64).at(20);
    EXPECT_LT(band.high - band.low, 20000);
    EXPECT_NEAR(band.value, 2e6, 5000);
}

}  // namespace
}  // namespace sluice::cli
