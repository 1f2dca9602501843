// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "report/records.hpp"
#include "report/summary/memory_curve.hpp"

namespace sluice::report {
namespace {

std::uint32_t resident(record::Sample const& sample) {
    return sample.resident;
}

bool in_order(std::vector<record::Sample> const& samples) {
    return std::is_sorted(samples.begin(), samples.end(),
                          [](record::Sample const& a, record::Sample const& b) { return a.time_us < b.time_us; });
}

record::Sample sample_at(std::uint64_t time_us, std::uint32_t kib) {
    record::Sample sample;
    sample.time_us = time_us;
    sample.resident = kib;
    return sample;
}

TEST(MemoryCurve, joins_the_history_and_a_ring_that_went_round) {
    auto const record = std::make_unique<record::RankRecord>();
    constexpr std::uint64_t k_samples = 10'000;
    for (std::uint64_t i = 0; i < k_samples; ++i) {
        record->recent[record->head.recent++ % record::k_recent] = sample_at(100 * i, static_cast<std::uint32_t>(i));
        if (i % 16 == 0) record->history[record->head.history++] = sample_at(100 * i, static_cast<std::uint32_t>(i));
    }
    std::vector<record::Sample> const all = samples_of(*record);
    EXPECT_TRUE(in_order(all));
    EXPECT_EQ(all.front().time_us, 0U);
    EXPECT_EQ(all.back().time_us, 100 * (k_samples - 1));
    std::uint64_t const ring_begin = 100 * (k_samples - record::k_recent);
    EXPECT_EQ(std::count_if(all.begin(), all.end(), [&](record::Sample const& s) { return s.time_us >= ring_begin; }),
              static_cast<std::ptrdiff_t>(record::k_recent));
    std::vector<record::Sample> const curve = curve_of(*record);
    EXPECT_TRUE(in_order(curve));
    EXPECT_LE(curve.size(), k_curve_points);
    EXPECT_GT(curve.size(), k_curve_points * 3 / 4);
    EXPECT_EQ(curve.back(), all.back());
}

TEST(MemoryCurve, thinning_keeps_the_most_of_registered_memory) {
    std::vector<record::Sample> samples;
    for (std::uint32_t i = 0; i < 1000; ++i) {
        samples.push_back(sample_at(1 + i, 1000 + i % 10));
        samples.back().pinned = i == 500 ? 77 : 1;  // not where most is resident
        samples.back().left_pinned = i;
        samples.back().used_at_once = i == 501 ? 55 : 2;
    }
    std::uint32_t pinned = 0;
    std::uint32_t at_once = 0;
    for (record::Sample const& sample : thinned(samples, 20)) {
        pinned = std::max(pinned, sample.pinned);
        at_once = std::max(at_once, sample.used_at_once);
    }
    EXPECT_EQ(pinned, 77U);
    EXPECT_EQ(at_once, 55U);
}

TEST(MemoryCurve, thinning_keeps_the_highest_and_the_last) {
    std::mt19937 random(1);
    for (std::size_t const count : {1U, 2U, 5U, 300U, 301U, 1000U, 4096U}) {
        std::vector<record::Sample> samples;
        std::uint64_t time = 0;
        for (std::size_t i = 0; i < count; ++i)
            samples.push_back(sample_at(time += 1 + random() % 1000, static_cast<std::uint32_t>(random() % 1'000'000)));
        std::vector<record::Sample> const few = thinned(samples, 300);
        EXPECT_LE(few.size(), 300U);
        EXPECT_TRUE(in_order(few));
        EXPECT_EQ(few.back(), samples.back());
        auto const higher = [](record::Sample const& a, record::Sample const& b) { return a.resident < b.resident; };
        EXPECT_EQ(std::max_element(few.begin(), few.end(), higher)->resident,
                  std::max_element(samples.begin(), samples.end(), higher)->resident);
    }
}

TEST(MemoryCurve, holds_the_peak_of_the_record_even_between_two_samples) {
    for (std::uint64_t const time : {0U, 1U, 5'000'005U, 11'999'999U}) {
        RecordPointer const record = make_record(0, 1);
        record->head.peak.time_us = time;
        record->head.peak.resident = 9'000'000;
        std::vector<record::Sample> const curve = curve_of(*record);
        EXPECT_LE(curve.size(), k_curve_points);
        EXPECT_TRUE(in_order(curve));
        EXPECT_EQ(std::count(curve.begin(), curve.end(), record->head.peak), 1) << time;
    }
}

TEST(MemoryCurve, of_an_empty_record_is_empty) {
    auto const record = std::make_unique<record::RankRecord>();
    EXPECT_TRUE(curve_of(*record).empty());
}

TEST(OverRanks, buckets_hold_what_they_say) {
    std::mt19937 random(2);
    for (int i = 0; i < 100'000; ++i) {
        auto const value = static_cast<std::uint32_t>(random() >> (random() % 32));
        auto const bucket = OverRanks::bucket_of(value);
        ASSERT_LE(bucket, 256U);
        double const middle = OverRanks::middle_of(bucket);
        if (value < 16)
            ASSERT_EQ(middle, value);
        else
            ASSERT_NEAR(middle / value, 1.0, 0.07) << value;
    }
    EXPECT_EQ(OverRanks::bucket_of(0xffff'ffff), 256U);
}

TEST(OverRanks, quantiles_of_many_ranks_are_those_of_their_values) {
    std::mt19937 random(3);
    std::uint64_t const width = OverRanks::width_for(1'000'000);
    EXPECT_LE(1'000'000 / width, k_time_bins);
    EXPECT_GE(1'000'000 / width, k_time_bins / 2 - 1);
    OverRanks over;
    std::vector<std::uint32_t> values;
    for (int rank = 0; rank < 1000; ++rank) {
        values.push_back(static_cast<std::uint32_t>(100'000 + random() % 900'000));
        std::vector<record::Sample> samples;
        for (std::uint64_t time = 0; time < 1'000'000; time += 1000)
            samples.push_back(sample_at(time, values.back()));
        over.add(OverRanks::of(samples, width, resident));
    }
    std::sort(values.begin(), values.end());
    for (OverRanks::Bin const& bin : over.bins()) {
        EXPECT_EQ(OverRanks::quantile(bin, 0), values.front());
        EXPECT_EQ(OverRanks::quantile(bin, 1), values.back());
        EXPECT_NEAR(OverRanks::quantile(bin, 0.5) / static_cast<double>(values[500]), 1.0, 0.08);
        EXPECT_NEAR(OverRanks::quantile(bin, 0.9) / static_cast<double>(values[900]), 1.0, 0.08);
    }
}

TEST(OverRanks, a_rank_that_ended_counts_no_more) {
    std::uint64_t const width = OverRanks::width_for(1'000'000);
    OverRanks over = OverRanks::of({sample_at(0, 5), sample_at(999'999, 5)}, width, resident);
    over.add(OverRanks::of({sample_at(0, 7), sample_at(100'000, 7)}, width, resident));
    EXPECT_EQ(OverRanks::quantile(over.bins().front(), 1), 7U);
    EXPECT_EQ(OverRanks::quantile(over.bins().back(), 1), 5U);
}

TEST(OverRanks, of_two_widths_meet_at_the_wider) {
    OverRanks fine = OverRanks::of({sample_at(0, 5), sample_at(7, 50)}, 1, resident);
    OverRanks const coarse = OverRanks::of({sample_at(0, 3), sample_at(7, 9)}, 4, resident);
    OverRanks other = coarse;
    other.add(fine);
    fine.add(coarse);
    EXPECT_EQ(fine, other);
    EXPECT_EQ(fine.bin_us(), 4U);
    ASSERT_EQ(fine.bins().size(), 2U);
    EXPECT_EQ(fine.bins()[1].most, 50U);
    EXPECT_EQ(fine.bins()[0].least, 3U);
}

}  // namespace
}  // namespace sluice::report
