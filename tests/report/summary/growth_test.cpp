// SPDX-License-Identifier: BSD-3-Clause
#include "report/summary/growth.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace sluice::report {
namespace {

constexpr std::uint32_t k_mib = 1024;

/// 100 seconds with ten samples each; everything except 100 MiB is MPI's private memory.
std::vector<record::Sample> curve(std::function<double(double)> const& mib_at) {
    std::vector<record::Sample> samples;
    for (int i = 0; i <= 1000; ++i) {
        record::Sample sample;
        sample.time_us = static_cast<std::uint64_t>(i) * 100'000;
        sample.mpi_private = static_cast<std::uint32_t>(mib_at(i / 10.0) * k_mib);
        sample.resident = 100 * k_mib + sample.mpi_private;
        samples.push_back(sample);
    }
    return samples;
}

TEST(SteadyGrowth, finds_when_a_leak_began) {
    auto const growth =
        steady_growth(curve([](double t) { return t < 40 ? 50 : 50 + 10 * (t - 40); }), Owner::mpi_private);
    ASSERT_TRUE(growth.has_value());
    EXPECT_NEAR(static_cast<double>(growth->since_us), 40e6, 2e6);
    EXPECT_NEAR(static_cast<double>(growth->by_kib()), 600.0 * k_mib, 20.0 * k_mib);
    EXPECT_EQ(growth->until_us, 100'000'000U);
}

TEST(SteadyGrowth, finds_it_behind_a_large_start) {
    auto const growth = steady_growth(
        curve([](double t) { return t < 5    ? 200 * t
                                    : t < 60 ? 1000
                                             : 1000 + 20 * (t - 60); }), Owner::mpi_private);
    ASSERT_TRUE(growth.has_value());
    EXPECT_NEAR(static_cast<double>(growth->since_us), 60e6, 3e6);
}

TEST(SteadyGrowth, finds_it_beneath_a_rhythm) {
    auto const growth = steady_growth(
        curve([](double t) { return 100 + 20 * std::sin(6 * t) + (t < 20 ? 0 : 15 * (t - 20)); }), Owner::mpi_private);
    ASSERT_TRUE(growth.has_value());
    EXPECT_NEAR(static_cast<double>(growth->since_us), 20e6, 12e6);
}

TEST(SteadyGrowth, is_none_for_a_plateau_a_rhythm_or_a_start) {
    EXPECT_FALSE(steady_growth(curve([](double) { return 500; }), Owner::mpi_private));
    EXPECT_FALSE(steady_growth(curve([](double t) { return t < 30 ? 20 * t : 600; }), Owner::mpi_private));
    EXPECT_FALSE(steady_growth(curve([](double t) { return 500 + 50 * std::sin(t); }), Owner::mpi_private));
    EXPECT_FALSE(steady_growth(curve([](double t) { return 500 - 4 * t; }), Owner::mpi_private));
}

TEST(Climb, ends_where_the_memory_stood) {
    auto const growth =
        climb(curve([](double t) { return t < 20 ? 50 : std::min(50 + 10 * (t - 20), 350.0); }), Owner::mpi_private);
    ASSERT_TRUE(growth.has_value());
    EXPECT_NEAR(static_cast<double>(growth->since_us), 20e6, 3e6);
    EXPECT_NEAR(static_cast<double>(growth->until_us), 50e6, 2e6);
    EXPECT_NEAR(static_cast<double>(growth->to_kib), 350.0 * k_mib, 10.0 * k_mib);
}

TEST(Climb, may_be_quicker_than_a_few_samples) {
    auto const growth = climb(curve([](double t) { return t < 30.05 ? 50 : 350; }), Owner::mpi_private);
    ASSERT_TRUE(growth.has_value());
    EXPECT_NEAR(static_cast<double>(growth->since_us), 30e6, 0.3e6);
    EXPECT_EQ(growth->from_kib, 50U * k_mib);
}

TEST(Climb, is_none_without_a_rise_or_after_a_fall) {
    EXPECT_FALSE(climb(curve([](double) { return 500; }), Owner::mpi_private));
    EXPECT_FALSE(climb(curve([](double t) { return t < 50 ? 10 * t : 100; }), Owner::mpi_private));
    EXPECT_FALSE(climb(curve([](double t) { return 500 - 4 * t; }), Owner::mpi_private));
}

TEST(SteadyGrowth, is_of_the_owner_that_grows) {
    auto const samples = curve([](double t) { return 50 + 10 * t; });
    EXPECT_TRUE(steady_growth(samples, Owner::mpi_private));
    EXPECT_FALSE(steady_growth(samples, Owner::application));
    EXPECT_FALSE(steady_growth(samples, Owner::mpi_shared));
    EXPECT_FALSE(steady_growth({}, Owner::application));
}

/// A sample in a call of the site, or outside MPI.
record::Sample at(std::uint64_t time, std::uint32_t mpi_kib, std::uint32_t site) {
    record::Sample sample;
    sample.time_us = time;
    sample.mpi_private = mpi_kib;
    sample.site = site;
    return sample;
}

TEST(SampledGrowth, goes_to_the_call_that_the_rank_was_in) {
    // Site 3 grows permanently; site 5 gives back what it took; growth between two calls belongs to the call before.
    auto const grown = sampled_growth({at(0, 100, record::k_no_site), at(1, 400, 3), at(2, 900, 5), at(3, 400, 5),
                                       at(4, 700, 3), at(5, 800, record::k_no_site), at(6, 800, 0xffff)},
                                      std::vector<SampledSite>(8, {1, 0}));
    EXPECT_EQ(grown, (std::vector<std::uint64_t>{0, 0, 0, 700, 0, 0, 0, 0}));
    EXPECT_EQ(sampled_growth({}, {{1, 0}, {1, 0}}), (std::vector<std::uint64_t>{0, 0}));
}

TEST(SampledGrowth, of_short_calls_is_at_most_what_they_can_have_taken) {
    // Samples every 10 ms: calls of sites 0 and 2 last 4.9, those of site 1 5.
    std::vector<record::Sample> const samples{at(0, 0, 0), at(10'000, 64, 0), at(20'000, 164, 1), at(30'000, 328, 0),
                                              at(40'000, 428, 2)};
    EXPECT_EQ(sampled_growth(samples, {{4'900, 0}, {5'000, 0}, {4'900, 60}}), (std::vector<std::uint64_t>{0, 100, 60}));
}

TEST(PartOf, never_goes_below_nothing) {
    record::Sample sample;
    sample.resident = 10;
    sample.mpi_private = 0xffff'ffff;
    sample.mpi_shared = 0xffff'ffff;
    EXPECT_EQ(part_of(sample, Owner::application), 0U);
}

}  // namespace
}  // namespace sluice::report
