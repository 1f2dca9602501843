// SPDX-License-Identifier: BSD-3-Clause
#include "memory/registration/cache.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "memory/registration/turned_bed.hpp"

namespace sluice::memory::registration {

namespace {

constexpr std::uint64_t k_mib = 1 << 20;

class CacheTest : public ::testing::Test {
  protected:
    explicit CacheTest(std::uint64_t limit = ~std::uint64_t{0})
        : tables_(1_MiB), pinned_({limit}), cache_(registrar_, pinned_, tables_) {}

    Use used(Range range) {
        Use const use = cache_.begin_use(range);
        cache_.end_use(use);
        return use;
    }

    CountingRegistrar registrar_;
    Budget tables_;
    Budget pinned_;
    Cache cache_;
};

class LimitedCacheTest : public CacheTest {
  protected:
    LimitedCacheTest() : CacheTest(4 * k_mib) {}
};

using Outcome = Use::Outcome;

TEST_F(CacheTest, a_region_serves_every_range_inside_it) {
    EXPECT_EQ(used(buffer(1, 4 * k_mib)).outcome, Outcome::registered);
    EXPECT_EQ(used({buffer(1).begin + k_mib, k_mib}).outcome, Outcome::found);
    EXPECT_EQ(used({buffer(1).begin + 3 * k_mib, 2 * k_mib}).outcome, Outcome::registered);
    EXPECT_EQ(used(buffer(2)).outcome, Outcome::registered);
    EXPECT_EQ(registrar_.pinned(), cache_.pinned().count);
    EXPECT_EQ(pinned_.held(Purpose::registered), cache_.pinned());
}

TEST_F(CacheTest, finds_the_large_region_behind_small_ones) {
    used(buffer(1, 64 * k_mib));
    for (std::uint64_t i = 1; i < 20; ++i)
        EXPECT_EQ(used({buffer(1).begin + i * k_mib, 2 * k_mib}).outcome, Outcome::found);
    Use const whole = cache_.begin_use(buffer(3, 8 * k_mib));
    EXPECT_EQ(used({buffer(3).begin + 7 * k_mib, k_mib}).outcome, Outcome::found);
    cache_.end_use(whole);
}

TEST_F(CacheTest, nothing_in_use_is_given_back) {
    Use const one = cache_.begin_use(buffer(1));
    Use const two = cache_.begin_use(buffer(1));
    EXPECT_FALSE(cache_.give_back(buffer(1)).done);
    EXPECT_FALSE(cache_.end_use(one));
    EXPECT_FALSE(cache_.give_back(buffer(1)).done);
    EXPECT_TRUE(cache_.end_use(two));
    EXPECT_TRUE(cache_.give_back(buffer(1)).done);
    EXPECT_FALSE(cache_.give_back(buffer(1)).done);
    EXPECT_EQ(registrar_.pinned(), 0U);
    EXPECT_EQ(pinned_.held(), Bytes{});
}

/// Before a fork: forgotten ones, too, and those whose next use is known.
TEST_F(CacheTest, all_that_is_not_in_use_is_given_back) {
    used(buffer(1));
    cache_.set_next_use(buffer(1), ms(1));
    used(buffer(2));
    EXPECT_TRUE(cache_.warm(buffer(3), ms(1)).done);
    used(buffer(4));
    cache_.forget(buffer(4));
    Use const in_use = cache_.begin_use(buffer(5));
    Use const forgotten_in_use = cache_.begin_use(buffer(6));
    cache_.forget(buffer(6));
    cache_.give_back_unused();
    EXPECT_EQ(registrar_.pinned(), buffer(5).bytes + buffer(6).bytes);
    EXPECT_TRUE(cache_.region_of(buffer(5)));
    EXPECT_TRUE(cache_.end_use(in_use));
    EXPECT_TRUE(cache_.end_use(forgotten_in_use));
    cache_.give_back_unused();
    EXPECT_EQ(registrar_.pinned(), 0U);
}

TEST_F(CacheTest, registered_ahead_is_found) {
    EXPECT_TRUE(cache_.warm(buffer(1), ms(1)).done);
    EXPECT_FALSE(cache_.warm(buffer(1), ms(1)).done);
    EXPECT_EQ(used(buffer(1)).outcome, Outcome::found);
    EXPECT_EQ(registrar_.added(), 1U);
}

TEST_F(CacheTest, what_is_forgotten_is_not_found_and_stays_until_its_use_ends) {
    Use const use = cache_.begin_use(buffer(1, 4 * k_mib));
    cache_.forget({buffer(1).begin + k_mib, 1});
    EXPECT_EQ(cache_.strays(), 1U);
    EXPECT_FALSE(cache_.region_of(buffer(1)).has_value());
    EXPECT_FALSE(cache_.give_back_stray().done);
    EXPECT_EQ(used(buffer(1, 4 * k_mib)).outcome, Outcome::registered) << "the new mapping has other pages";
    EXPECT_TRUE(cache_.end_use(use));
    EXPECT_TRUE(cache_.give_back_stray().done);
    EXPECT_EQ(cache_.strays(), 0U);
    EXPECT_EQ(registrar_.pinned(), 4 * k_mib);
    cache_.forget(buffer(7));
    EXPECT_EQ(cache_.strays(), 0U);
}

TEST_F(CacheTest, a_registrar_that_fails_costs_the_message_its_region_only) {
    registrar_.fail(Failure::device);
    Use const use = cache_.begin_use(buffer(1));
    EXPECT_EQ(use.outcome, Outcome::refused);
    EXPECT_EQ(use.failure, Failure::device);
    EXPECT_FALSE(cache_.end_use(use));
    EXPECT_EQ(cache_.warm(buffer(1), ms(1)).failure, Failure::device);
    EXPECT_EQ(pinned_.held(), Bytes{});
    registrar_.fail(Failure::none);
    EXPECT_EQ(used(buffer(1)).outcome, Outcome::registered);
}

TEST_F(CacheTest, more_regions_than_places_push_each_other_out) {
    for (std::uint64_t i = 0; i < Cache::k_most_regions + 100; ++i)
        EXPECT_TRUE(cache_.warm(buffer(i, 4096), Time(static_cast<Time::rep>(i))).done) << i;
    EXPECT_EQ(registrar_.pinned(), Cache::k_most_regions * 4096);
}

TEST_F(CacheTest, small_regions_inside_one_that_is_registered_are_given_back) {
    used({buffer(1).begin, 64 << 10});
    used({buffer(1).begin + (128 << 10), 64 << 10});
    EXPECT_EQ(used(buffer(1)).outcome, Outcome::registered);
    EXPECT_EQ(cache_.pinned().count, k_mib);
}

TEST_F(CacheTest, what_was_registered_ahead_gives_way_before_the_peak_rises) {
    used(buffer(1));
    cache_.give_back(buffer(1));
    cache_.warm(buffer(2), ms(1));
    used(buffer(3));
    EXPECT_EQ(cache_.peak().count, k_mib);
    cache_.give_back(buffer(3));
    Use const one = cache_.begin_use(buffer(4));
    Use const two = cache_.begin_use(buffer(5));
    EXPECT_EQ(cache_.peak().count, 2 * k_mib);
    cache_.end_use(one);
    cache_.end_use(two);
}

TEST_F(LimitedCacheTest, the_region_that_is_used_last_makes_room) {
    for (std::uint64_t i = 0; i < 4; ++i) {
        used(buffer(i));
        cache_.set_next_use(buffer(i), ms(100 - static_cast<std::int64_t>(i)));
    }
    EXPECT_EQ(used(buffer(9)).outcome, Outcome::registered);
    EXPECT_FALSE(cache_.region_of(buffer(0)).has_value());
    EXPECT_TRUE(cache_.region_of(buffer(1)).has_value());
    EXPECT_EQ(cache_.pinned().count, 4 * k_mib);
}

TEST_F(LimitedCacheTest, a_registration_ahead_pushes_nothing_out_that_is_needed_before) {
    for (std::uint64_t i = 0; i < 4; ++i) {
        cache_.warm(buffer(i), ms(1));
        cache_.set_next_use(buffer(i), ms(10));
    }
    EXPECT_EQ(cache_.warm(buffer(8), ms(10)).failure, Failure::limit);
    EXPECT_TRUE(cache_.warm(buffer(8), ms(9)).done);
}

TEST_F(LimitedCacheTest, a_limit_below_what_is_in_use_does_not_fail) {
    std::vector<Use> uses;
    for (std::uint64_t i = 0; i < 7; ++i)
        uses.push_back(cache_.begin_use(buffer(i)));
    for (Use const& use : uses)
        EXPECT_EQ(use.outcome, Outcome::registered);
    EXPECT_EQ(cache_.counters().beyond_limit, 3U);
    pinned_.set_limit(2_MiB);
    for (Use const& use : uses)
        EXPECT_TRUE(cache_.end_use(use));
    EXPECT_EQ(used(buffer(20)).outcome, Outcome::registered);
    EXPECT_LE(cache_.pinned().count, 2 * k_mib);
}

TEST_F(LimitedCacheTest, a_message_larger_than_the_limit_uses_its_own_path) {
    Use const use = cache_.begin_use(buffer(1, 5 * k_mib));
    EXPECT_EQ(use.outcome, Outcome::refused);
    EXPECT_EQ(use.failure, Failure::limit);
    EXPECT_EQ(registrar_.added(), 0U);
}

TEST(PinnedLimit, is_the_smaller_of_setting_and_limit) {
    EXPECT_EQ(pinned_limit(1_MiB), 1_MiB);
    rlimit limit{};
    ASSERT_EQ(getrlimit(RLIMIT_MEMLOCK, &limit), 0);
    EXPECT_GE(pinned_limit(Bytes{}).count, std::min<std::uint64_t>(limit.rlim_cur, 1 << 16));
}

}  // namespace

}  // namespace sluice::memory::registration
